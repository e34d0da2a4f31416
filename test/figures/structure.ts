import { parseAst } from 'rolldown/parseAst';
import {
  cyclesOf,
  featureImports,
  floors,
  type Import,
  importsOf,
  sourceFiles,
  textOf,
} from '../support/imports.ts';
import { heading, print } from './print.ts';

const files = sourceFiles();
const texts = new Map(files.map((file) => [file, textOf(file)]));
const imports = importsOf(files);

/** Prints the figures of the code's structure. */
export function printStructure(): void {
  heading('Structure');
  sizes();
  functions();
  structure();
  names();
}

function sizes(): void {
  const lines = [...texts.values()].flatMap((text) => text.trimEnd().split('\n'));
  const importers = Map.groupBy(unique(imports), ({ to }) => to);
  const small = files.filter((file) => linesOf(file) < 25 && importers.get(file)?.length === 1);
  print('files', files.length);
  print('lines', lines.length);
  print(
    'characters',
    [...texts.values()].reduce((sum, text) => sum + text.length, 0),
  );
  print(
    'line width, 99th percentile',
    percentile(
      lines.map((line) => line.length),
      0.99,
    ),
  );
  print('files over 240 lines', files.filter((file) => linesOf(file) > 240).length);
  print('files imported once, under 25 lines', small.length);
}

function linesOf(file: string): number {
  return (texts.get(file) ?? '').trimEnd().split('\n').length;
}

function unique(all: Import[]): Import[] {
  return [...new Map(all.map((one) => [`${one.from} ${one.to}`, one])).values()];
}

function percentile(values: number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;
}

/** Prints the median length of functions with a block body, and counts banned constructs. */
function functions(): void {
  const lengths: number[] = [];
  let banned = 0;
  for (const text of texts.values()) {
    const visit = (node: unknown): void => {
      if (Array.isArray(node)) for (const one of node) visit(one);
      if (typeof node !== 'object' || node === null || !('type' in node)) return;
      // Every node of the parser has a type and a position, and some have a body.
      const { type, start, end, body } = node as {
        type: string;
        start: number;
        end: number;
        body?: unknown;
      };
      const isBlock =
        typeof body === 'object' &&
        body !== null &&
        'type' in body &&
        body.type === 'BlockStatement';
      const isFunction = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
      if (isFunction.includes(type) && isBlock)
        lengths.push(text.slice(start, end).split('\n').length);
      if (type === 'TSAnyKeyword' || type === 'TSNonNullExpression') banned += 1;
      for (const part of Object.values(node)) visit(part);
    };
    visit(parseAst(text, { lang: 'ts' }).body);
    banned += text.match(/biome-ignore|@ts-(ignore|expect-error|nocheck)/g)?.length ?? 0;
  }
  print('functions, median length in lines', percentile(lengths, 0.5));
  print('any, !, suppressions', banned);
}

function structure(): void {
  const between = featureImports(imports);
  const height = (floor: string) => floors.indexOf(floor);
  const pairs = new Set(between.map(({ from, to }) => `${from.feature} ${to.feature}`));
  const mutual = [...pairs].filter((pair) => pairs.has(pair.split(' ').reverse().join(' ')));
  const groups = cyclesOf(between.map(({ from, to }) => [from.feature, to.feature]));
  print('features', new Set(between.flatMap(({ from, to }) => [from.feature, to.feature])).size);
  print(
    'value imports that point up',
    between.filter(({ from, to }) => height(to.floor) > height(from.floor)).length,
  );
  print('mutual pairs of features', mutual.length / 2);
  print(
    'largest strongly connected component',
    Math.max(1, ...groups.map((group) => group.length)),
  );
  print(
    'cycles of files, types included',
    cyclesOf(imports.map(({ from, to }) => [from, to])).length,
  );
}

function names(): void {
  const declared = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;
  const all = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(declared)].map(([, name = '']) => ({ name, file })),
  );
  const places = Map.groupBy(all, ({ name }) => name);
  const twice = [...places].filter(([, found]) => new Set(found.map(({ file }) => file)).size > 1);
  print('exported names declared in two files', twice.length);
  for (const [name, found] of twice)
    process.stdout.write(`  ${name}: ${found.map(({ file }) => file).join(', ')}\n`);
}
