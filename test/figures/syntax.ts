import { parseSync } from 'rolldown/utils';
import { sourceFiles, textOf } from '../support/imports.ts';

/** A node of a syntax tree: its type, its place in the text, and its parts. */
export interface Node {
  type: string;
  start: number;
  end: number;
  [part: string]: unknown;
}

/** A source file with its syntax. */
export interface Source {
  file: string;
  text: string;
  /** Every node of the file, each before its parts. */
  nodes: Node[];
  /** The characters of its comments. */
  commented: number;
}

/** Reads every file below src/. */
export function readSources(): Source[] {
  return sourceFiles().map((file) => {
    const text = textOf(file);
    const { program, comments } = parseSync(file, text, { lang: 'ts' });
    const commented = comments.reduce((sum, { start, end }) => sum + end - start, 0);
    return { file, text, nodes: [...nodesBelow(program.body)], commented };
  });
}

/** Every node in a part of a tree, each before its own parts. */
export function* nodesBelow(part: unknown): Generator<Node> {
  if (Array.isArray(part)) {
    for (const one of part) yield* nodesBelow(one);
    return;
  }
  if (!isNode(part)) return;
  yield part;
  yield* nodesBelow(Object.values(part));
}

/** Whether the value is a node. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The name of an identifier; empty for another node. */
export function nameOf(value: unknown): string {
  return isNode(value) && typeof value['name'] === 'string' ? value['name'] : '';
}

/** The text of a string literal or of one part of a template; null for another node. */
export function stringOf(node: Node): string | null {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node.type !== 'TemplateElement') return null;
  const { value } = node;
  return typeof value === 'object' && value !== null && 'cooked' in value
    ? String(value.cooked)
    : null;
}

/** The number of lines of a text, without an empty end. */
export function linesOf(text: string): number {
  return text.trimEnd().split('\n').length;
}
