"""The ladder's arithmetic against values worked out elsewhere."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import ladder  # noqa: E402
import scores  # noqa: E402


class Scores(unittest.TestCase):
    def test_mean_absolute_error_is_in_per_cent_of_the_published_value(self):
        self.assertAlmostEqual(scores.absolute_percentage_error([110, 180], [100, 200]), 10)

    def test_spearman_of_the_textbook_example_of_intelligence_and_television(self):
        iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
        hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
        self.assertAlmostEqual(scores.spearman(iq, hours), -29 / 165)

    def test_equal_values_share_their_ranks(self):
        self.assertEqual(scores.ranks([5, 1, 5]), [2.5, 1, 2.5])

    def test_no_order_has_no_correlation(self):
        self.assertIsNone(scores.spearman([1, 1], [1, 2]))

    def test_a_step_holds_from_half_to_twice_the_published_gain(self):
        for after, holds in [(104.9, False), (105.1, True), (119.9, True), (120.1, False), (95, False)]:
            self.assertEqual(scores.step([100], [after], [100], [110])["holds"], holds)

    def test_a_published_loss_asks_for_a_modelled_loss(self):
        self.assertTrue(scores.step([100], [98], [100], [98])["holds"])
        self.assertFalse(scores.step([100], [102], [100], [98])["holds"])


class Assessment(unittest.TestCase):
    published = {"shapes": ["a"], "fa4_tflops": [200], "tflops": {"1": [100], "2": [150]}}

    def chapter(self, tflops):
        return {"title": "t", "check": {"pass": True}, "runs": {"a": {"pass": True, "tflops": tflops, "ms": 1.0}}}

    def test_difference_is_in_points_of_flash_attention_4(self):
        result = ladder.assess({"01": self.chapter(110), "02": self.chapter(150)}, self.published, ["a"])
        self.assertAlmostEqual(result["rows"][0]["difference"], 5)
        self.assertAlmostEqual(result["mean_absolute_error"], 5)
        self.assertEqual(result["spearman"], 1)

    def test_a_chapter_without_a_time_is_left_out_of_the_errors(self):
        result = ladder.assess({"01": self.chapter(110), "02": self.chapter(None)}, self.published, ["a"])
        self.assertAlmostEqual(result["mean_absolute_error"], 10)
        self.assertEqual(result["steps"], [])


class Markers(unittest.TestCase):
    def test_only_the_text_between_the_markers_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "README.md"
            path.write_text(f"before\n{ladder.BEGIN}\nold\n{ladder.END}\nafter\n")
            ladder.write_between_markers(path, "new")
            self.assertEqual(path.read_text(), f"before\n{ladder.BEGIN}\nnew\n{ladder.END}\nafter\n")

    def test_a_file_without_markers_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "README.md"
            path.write_text("no markers\n")
            with self.assertRaisesRegex(ladder.LadderError, "ladder:begin"):
                ladder.write_between_markers(path, "new")


if __name__ == "__main__":
    unittest.main()
