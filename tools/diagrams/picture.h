// One generated picture: its place in the book, its caption, and the function that draws it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "diagrams/kernel.h"
#include "svg/canvas.h"

namespace diagrams {

struct Picture {
  int chapter = 0;
  std::string name;     // file diagrams/NN_name.svg
  std::string caption;  // one line for the gallery
  std::function<svg::Canvas(const Kernels&)> draw;

  std::string file() const;
};

std::vector<Picture> chapter_00();
std::vector<Picture> chapter_01();
std::vector<Picture> chapter_01_pv();
std::vector<Picture> chapter_02();
std::vector<Picture> chapter_03();
std::vector<Picture> chapter_04();
std::vector<Picture> chapter_05();
std::vector<Picture> chapter_06();
std::vector<Picture> chapter_07();

// All of them, in the order of the book.
std::vector<Picture> all_pictures();

// Title of a chapter in the gallery.
std::string chapter_title(int chapter);

}  // namespace diagrams
