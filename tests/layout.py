"""What can be checked of the layout of any page, in every width and both colour schemes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WIDTHS = (390, 768, 1280)

# The contrast of every visible text by WCAG 2, from the colours that the browser computes. Text of
# 24 px, or bold text of 18.7 px, needs 3, all other text 4.5.
CONTRASTS = """() => {
    const parse = (text) => {
        const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
        return {r, g, b, a};
    };
    const light = ({r, g, b}) => {
        const [x, y, z] = [r, g, b].map((c) =>
            (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.a > 0.99) return colour;
        }
        return {r: 255, g: 255, b: 255};
    };
    const bad = [];
    let seen = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
        if (element.closest("script, style, svg, .unseen, [disabled]")) continue;
        const style = getComputedStyle(element);
        const [over, under] = [light(parse(style.color)), light(ground(element))];
        const ratio = (Math.max(over, under) + 0.05) / (Math.min(over, under) + 0.05);
        const size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        seen += 1;
        if (ratio < (large ? 3 : 4.5)) {
            bad.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)} `
                     + walker.currentNode.textContent.trim().slice(0, 30));
        }
    }
    return [seen, bad.slice(0, 10)];
}"""

# Pairs of texts or controls that cover each other, as far as their ancestors do not clip them. An
# open case covers the page, so only its own texts count.
OVERLAPS = """() => {
    const root = document.querySelector(".drawer:not([hidden])") ?? document.body;
    const boxes = [];
    const add = (node, element, rects) => {
        if (!element.checkVisibility() || element.closest("script, style, .unseen, .skip")) return;
        const clips = [];
        for (let at = element; at && at !== root; at = at.parentElement) {
            const clipped = getComputedStyle(at).overflowX !== "visible";
            if (clipped) clips.push(at.getBoundingClientRect());
        }
        for (const rect of rects) {
            // The box of a line of text is higher than its letters.
            const slack = node === element ? 1 : rect.height * 0.2;
            const box = {
                node, left: rect.left + 1, right: rect.right - 1,
                top: rect.top + slack, bottom: rect.bottom - slack,
            };
            for (const clip of clips) {
                box.left = Math.max(box.left, clip.left);
                box.right = Math.min(box.right, clip.right);
                box.top = Math.max(box.top, clip.top);
                box.bottom = Math.min(box.bottom, clip.bottom);
            }
            if (box.right > box.left && box.bottom > box.top) boxes.push(box);
        }
    };
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.textContent.trim()) continue;
        range.selectNodeContents(node);
        add(node, node.parentElement, range.getClientRects());
    }
    for (const element of root.querySelectorAll("input, select, textarea, svg")) {
        add(element, element, element.getClientRects());
    }
    boxes.sort((a, b) => a.top - b.top);
    const named = (node) => (node.textContent || node.outerHTML).trim().slice(0, 40);
    const bad = [];
    boxes.forEach((one, place) => {
        for (let next = place + 1; next < boxes.length && boxes[next].top < one.bottom; next++) {
            const other = boxes[next];
            if (one.left >= other.right || other.left >= one.right) continue;
            if (one.node.contains(other.node) || other.node.contains(one.node)) continue;
            bad.push(`${named(one.node)} | ${named(other.node)}`);
        }
    });
    return [boxes.length, bad.slice(0, 10)];
}"""


def check_layout(tab: Any, what: str = "", *, order: Sequence[str] = ()) -> None:
    """Check width, order and overlaps of an open page in every width, contrast in both schemes.

    Args:
        tab: the tab that shows the page.
        what: the part of the page, for the message.
        order: selectors of parts that follow each other from top to bottom.
    """
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, what
        seen, bad = tab.evaluate(OVERLAPS)
        assert seen > 10
        assert bad == [], f"{what} {width} px"
        tops = [tab.locator(each).first.bounding_box()["y"] for each in order]
        assert tops == sorted(set(tops)), f"{what} {width} px"
    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        seen, bad = tab.evaluate(CONTRASTS)
        assert seen > 10
        assert bad == [], f"{what} {scheme}"
