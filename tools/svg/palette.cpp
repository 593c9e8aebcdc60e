#include "svg/palette.h"

#include <fmt/format.h>

#include "svg/metrics.h"

namespace svg {
namespace {

struct Theme {
  std::string_view ground, ink, muted, edge, firm, faint, n1, n2, n3, accent, bad;
};
constexpr Theme kLight = {"#ffffff", "#16202c", "#55606e", "#66717f", "#16202c", "#d3d9e0",
                          "#f1f4f7", "#dde3ea", "#c0c9d3", "#b3261e", "#e5484d"};
constexpr Theme kDark = {"#11161d", "#e8edf3", "#a4afbc", "#8a95a3", "#e8edf3", "#37414d",
                         "#1b222c", "#2a333f", "#3d4855", "#ff8a80", "#e5484d"};

std::string themed(const Theme& t) {
  return fmt::format(
      ".bg,.plate{{fill:{}}}.t{{fill:{}}}.m{{fill:{}}}.x{{fill:{}}}.n1{{fill:{}}}.n2{{fill:{}}}.n3{{fill:{}}}"
      ".bad{{fill:{}}}.e{{stroke:{}}}.f,.w,.ar,.da{{stroke:{}}}.g{{stroke:{}}}.hi{{stroke:{}}}"
      ".ah{{fill:{}}}.xh{{fill:{}}}.pl{{stroke:{}}}",
      t.ground, t.ink, t.muted, t.accent, t.n1, t.n2, t.n3, t.bad, t.edge, t.firm, t.faint, t.accent, t.firm,
      t.accent, t.firm);
}

}  // namespace

std::string style_sheet() {
  std::string css =
      fmt::format("text{{font-family:{}}}.k{{fill:{}}}.none{{fill:none}}", kFontStack, kInkOnColor);
  for (const Role& r : kRoles) {
    css += fmt::format(".{0}{{fill:{1}}}.{0}l{{fill:{1};fill-opacity:.36}}", r.name, r.color);
  }
  css +=
      ".e{stroke-width:.8}.f{stroke-width:1.2}.g{stroke-width:.7}.w{stroke-width:2.2}.ar{stroke-width:1.5}"
      ".hi{stroke-width:2.4}.da{stroke-width:1.2;stroke-dasharray:5 3}.pl{stroke-width:1;stroke-opacity:.45}"
      ".ar,.da,.ln{fill:none}";
  css += themed(kLight);
  css += "@media (prefers-color-scheme:dark){" + themed(kDark) + "}";
  return css;
}

}  // namespace svg
