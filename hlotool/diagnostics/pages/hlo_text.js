"use strict";
/* HLO coloured, for every page that shows lines of it. What stands in a file only ever becomes text. */

/* Strings, comments, names that are defined, attributes, opcodes, types, words, names, numbers. */
const TOKENS = /("(?:[^"\\]|\\.)*")|(\/\/.*|\/\*.*?\*\/)|(^\s*(?:ROOT\s+)?%?[\w.\-]+(?=\s*=\s))|([a-z_][\w\-]*)(?==)|([a-z][\w\-]*)(?=\()|\b((?:pred|[sufc]\d+\w*|bf16|token|opaque)(?=\[))|\b(HloModule|ENTRY|ROOT)\b|(%[\w.\-]+)|(-?\b\d[\d.]*(?:[eE][+\-]?\d+)?\b)/g;
const TOKEN_CLASSES = ["string", "comment", "name", "attribute", "opcode", "type", "word", "name", "number"];

/* An element with a class, texts and elements in it. */
function htmlNode(tag, className, ...inside) {
  const found = document.createElement(tag);
  if (className) found.className = className;
  found.append(...inside);
  return found;
}

/* A line as nodes: text, spans with a class for what is coloured, and marks around ranges [from, to) in order. */
function coloured(text, marks = []) {
  const spans = [];
  for (const token of text.matchAll(TOKENS))
    spans.push([token.index, token.index + token[0].length, `hlo-${TOKEN_CLASSES[token.slice(1).findIndex(part => part !== undefined)]}`]);
  const found = [];
  let at = 0;
  for (const [from, to] of marks) {
    if (to <= Math.max(at, from)) continue;
    found.push(...stretch(text, at, Math.max(at, from), spans), htmlNode("mark", "", ...stretch(text, Math.max(at, from), to, spans)));
    at = to;
  }
  return [...found, ...stretch(text, at, text.length, spans)];
}

/* A part of a line, from one place to another. */
function stretch(text, from, to, spans) {
  const found = [];
  let at = from;
  for (const [start, end, className] of spans) {
    if (end <= at || start >= to) continue;
    if (start > at) found.push(text.slice(at, start));
    found.push(htmlNode("span", className, text.slice(Math.max(at, start), Math.min(end, to))));
    at = Math.min(end, to);
  }
  if (at < to) found.push(text.slice(at, to));
  return found;
}
