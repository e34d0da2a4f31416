import { dirname, join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { textOf } from './imports.ts';

// Prints how many files a reader opens to follow each sign-in: `npm run walks` (`-- --list` names
// each file). It follows calls below src/services from the function in flow.ts, depth first and in
// source order, each function once. It stops when `beginSession` has written the session. It skips
// code that runs only after a failure, and functions that make a `Refusal`.
//
// `files` counts the files. `returns` counts the calls that lead back into a file. Each line shows
// both twice: without the calls that functions outside services/signin make, and with them.

const room = 'src/services/signin/';
const flow = `${room}flow.ts`;

/** The function where each walk starts, and the function that admits the person. */
const walks = {
  password: { start: 'signIn', door: 'enterByPassword' },
  code: { start: 'signInByCode', door: null },
  LDAP: { start: 'signInByLdap', door: 'enterByDirectory' },
  social: { start: 'finishSocial', door: 'enterBySocial' },
  SSO: { start: 'finishSso', door: 'enterBySso' },
};
const doors = ['enterByLink', ...Object.values(walks).map(({ door }) => door)];

const failures = ['ThrowStatement', 'CatchClause'];

interface Node {
  type: string;
  [part: string]: unknown;
}

/** The functions that a file declares, and where its imports from src/services come from. */
interface Source {
  functions: Map<string, Node>;
  imports: Map<string, { file: string; name: string }>;
}

const sources = new Map<string, Source>();
for (const [name, { start, door }] of Object.entries(walks)) {
  const [near, whole] = [walk(start, door, false), walk(start, door, true)];
  print(`${name.padEnd(10)} ${shown(near)}   with the lower floors: ${shown(whole)}`);
  if (process.argv.includes('--list')) for (const step of near.steps) print(step);
}

function shown({ files, returns }: { files: Set<string>; returns: number }): string {
  return `files ${files.size}, returns ${String(returns).padEnd(2)}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function walk(start: string, door: string | null, whole: boolean) {
  const entered = new Set<string>();
  const seen = { files: new Set<string>(), returns: 0, steps: [] as string[] };
  let done = false;
  const enter = (file: string, name: string, from: string) => {
    const declared = sourceOf(file).functions.get(name);
    const isOther = doors.includes(name) && name !== door;
    if (declared === undefined || isOther || isRefusal(declared)) return;
    if (done || entered.has(`${file} ${name}`)) return;
    entered.add(`${file} ${name}`);
    const returns = file !== from && seen.files.has(file);
    if (returns) seen.returns += 1;
    if (file !== from) seen.steps.push(`  ${returns ? 'back to' : 'to'} ${file}: ${name}`);
    seen.files.add(file);
    if (whole || file.startsWith(room)) follow(declared, file);
    done ||= name === 'beginSession';
  };
  // The arguments of a call come first, but the functions among them run inside it.
  const follow = (node: unknown, file: string, inside?: Node[]): void => {
    if (Array.isArray(node)) for (const part of node) follow(part, file, inside);
    if (done || !isNode(node) || failures.includes(node.type)) return;
    if (inside !== undefined && node.type === 'ArrowFunctionExpression') {
      inside.push(node);
      return;
    }
    const { callee, arguments: given } = node;
    if (node.type !== 'CallExpression' || !isNode(callee)) {
      follow(Object.values(node), file, inside);
      return;
    }
    const functions: Node[] = [];
    follow(callee, file, inside);
    follow(given, file, functions);
    const name = nameOf(callee);
    const target = sourceOf(file).imports.get(name) ?? { file, name };
    enter(target.file, target.name, file);
    // The function given to `promise.catch(…)` runs only after a failure.
    if (nameOf(callee['property']) !== 'catch') follow(functions, file);
  };
  enter(flow, start, flow);
  return seen;
}

/** Whether the function's declared result is a `Refusal`. */
function isRefusal({ returnType }: Node): boolean {
  const type = isNode(returnType) ? returnType['typeAnnotation'] : null;
  return isNode(type) && nameOf(type['typeName']) === 'Refusal';
}

function sourceOf(file: string): Source {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const source: Source = { functions: new Map(), imports: new Map() };
  sources.set(file, source);
  // Every statement is a node with a type and its parts.
  for (const node of parseAst(textOf(file), { lang: 'ts' }).body as unknown as Node[]) {
    if (node.type === 'ImportDeclaration') readImport(node, file, source);
    const { declaration: declared = node } = node;
    for (const one of isNode(declared) ? [declared, ...nodesOf(declared['declarations'])] : [])
      if (isNode(one['id'])) source.functions.set(nameOf(one['id']), one);
  }
  return source;
}

function readImport({ source, specifiers }: Node, file: string, { imports }: Source): void {
  const from = isNode(source) ? String(source['value']) : '';
  const path = join(dirname(file), from);
  if (!from.startsWith('.') || !path.startsWith('src/services/')) return;
  for (const one of nodesOf(specifiers))
    imports.set(nameOf(one['local']), { file: path, name: nameOf(one['imported']) });
}

function nameOf(node: unknown): string {
  return isNode(node) ? String(node['name'] ?? '') : '';
}

function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
