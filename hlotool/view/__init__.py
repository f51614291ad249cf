"""Modules to look at: graphs folded by computation, Python scope and repeated layer, as a page or a drawing."""

from hlotool.view.cost_page import cost_page
from hlotool.view.drawing_formats import (
    DEFAULT_BOXES,
    GraphCollection,
    as_dot,
    as_model_explorer,
    as_svg,
    excerpt_dot,
    excerpt_svg,
    model_explorer_text,
)
from hlotool.view.folding import Fold, fold_computation, opened
from hlotool.view.neighbourhood import DEFAULT_NEAR, Excerpt, around, between, instruction_named
from hlotool.view.notebook_cell import notebook_cell
from hlotool.view.overlays import Values, read_values
from hlotool.view.page_data import ViewedModule, viewed
from hlotool.view.view_page import MOST_BYTES, FolderPage, folder_page, module_page, pair_page

__all__ = [
    "DEFAULT_BOXES", "DEFAULT_NEAR", "MOST_BYTES", "Excerpt", "Fold", "FolderPage", "GraphCollection", "Values",
    "ViewedModule", "around", "as_dot", "as_model_explorer", "as_svg", "between", "cost_page", "excerpt_dot",
    "excerpt_svg", "fold_computation", "folder_page", "instruction_named", "model_explorer_text", "module_page",
    "notebook_cell", "opened", "pair_page", "read_values", "viewed",
]
