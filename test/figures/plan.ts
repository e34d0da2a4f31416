import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { heading, print } from './print.ts';
import { isNode, linesOf, type Node, nameOf, nodesBelow, type Source, stringOf } from './syntax.ts';

// The figures of issue 31, each with its goal. A comment says how a figure is measured if its name
// does not.

/** The lines of `src/` before issue 31. */
const linesBefore = 61_100;

/** Prints the figures of the plan; with `list`, the places that they count too. */
export async function printPlan(sources: Source[], list: boolean): Promise<void> {
  const services = sources.filter(({ file }) => file.startsWith('src/services/'));
  const show = (name: string, places: string[], most?: number) => {
    print(name, places.length, most === undefined ? undefined : { most });
    if (list) for (const place of places) process.stdout.write(`  ${place}\n`);
  };
  const program = await createProgram();
  heading('Knowledge that types should hold');
  const kinds = filesWith(sources, namesKind);
  show('files that name a kind of connection', kinds, 14);
  show(
    '  of these, in services',
    kinds.filter((file) => file.startsWith('src/services/')),
  );
  show('files that read cause or extra of a refusal', sources.flatMap(readsReason), 1);
  const nouns = program.commands.map((command) => command.name());
  show('texts in services with a command of idctl', commandsIn(services, nouns), 0);
  show('uses of the dialect in services', callsIn(services, /dialect/i), 3);
  show('  comparisons with the name of a dialect', comparisonsIn(services));
  show('files in services that mix models and SQL', mixing(services), 0);
  sizes(sources, leavesOf(program).length);
}

function filesWith(sources: Source[], test: (node: Node) => boolean): string[] {
  return sources.filter(({ nodes }) => nodes.some(test)).map(({ file }) => file);
}

/** A string that is the name of a kind, as a value or in a type. Names of fields do not count. */
function namesKind(node: Node): boolean {
  return ['sso', 'ldap', 'oidc', 'saml'].includes(stringOf(node) ?? '');
}

// These read the cause of a library's error, or of a bug for its report. `errors.ts` declares both.
const otherCauses = [
  'src/cli/report.ts',
  'src/database/refusals.ts',
  'src/errors.ts',
  'src/log/log.ts',
  'src/outbound/discovery.ts',
  'src/outbound/failure.ts',
  'src/outbound/oidc.ts',
];

/** The file, if it looks inside `cause` or `extra` of a refusal. Passing it on does not count. */
function readsReason({ file, text, nodes }: Source): string[] {
  if (otherCauses.includes(file)) return [];
  const passedOn = new Set(
    nodes.flatMap(({ type, value, argument, left }) =>
      type === 'Property' ? [value] : type === 'SpreadElement' ? [argument] : [left],
    ),
  );
  const isMember = (node: Node) =>
    node.type === 'MemberExpression' && isReason(node['property']) && !passedOn.has(node);
  const isTaken = ({ type, id, init }: Node) =>
    type === 'VariableDeclarator' && nameOf(init) !== '' && takesReason(id);
  const isParameter = (node: Node) =>
    takesReason(node) && /^[^)]*\}: Refusal\b/.test(text.slice(node.start));
  return nodes.some((node) => isMember(node) || isTaken(node) || isParameter(node)) ? [file] : [];
}

function isReason(name: unknown): boolean {
  return ['cause', 'extra'].includes(nameOf(name));
}

/** Whether the pattern takes `cause` or `extra` out of an object. */
function takesReason(pattern: unknown): boolean {
  if (!isNode(pattern) || pattern.type !== 'ObjectPattern') return false;
  return [...nodesBelow(pattern['properties'])].some(
    ({ type, key }) => type === 'Property' && isReason(key),
  );
}

/** The strings with `idctl` and the name of a command, or an expression, after it. */
function commandsIn(sources: Source[], nouns: string[]): string[] {
  const command = new RegExp(`\\bidctl (?:(?:${nouns.join('|')})\\b|$)`);
  return sources.flatMap(({ file, nodes }) =>
    nodes.flatMap((node) => {
      const text = stringOf(node) ?? '';
      return command.test(text) ? [`${file}: ${text.replaceAll(/\s+/g, ' ')}`] : [];
    }),
  );
}

function callsIn(sources: Source[], name: RegExp): string[] {
  return placesOf(
    sources,
    ({ type, callee }) => type === 'CallExpression' && name.test(nameOf(callee)),
  );
}

/** Every comparison counts, those of SQL that is made elsewhere and those of a move too. */
function comparisonsIn(sources: Source[]): string[] {
  const isDialect = (part: unknown) =>
    isNode(part) && ['sqlite', 'postgres'].includes(stringOf(part) ?? '');
  return placesOf(
    sources,
    ({ type, left, right }) => type === 'BinaryExpression' && (isDialect(left) || isDialect(right)),
  );
}

function placesOf(sources: Source[], test: (node: Node) => boolean): string[] {
  return sources.flatMap(({ file, text, nodes }) =>
    nodes.filter(test).map(({ start }) => `${file}:${text.slice(0, start).split('\n').length}`),
  );
}

const statement = /^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|LOCK TABLE|PRAGMA|ALTER)\b/;

/** The files with a text that begins as an SQL statement, and with the import of a model's class. */
function mixing(sources: Source[]): string[] {
  const withSql = sources.filter(({ nodes }) =>
    nodes.some((node) => statement.test(stringOf(node) ?? '')),
  );
  return filesWith(
    withSql,
    ({ type, importKind, source, specifiers }) =>
      type === 'ImportDeclaration' &&
      importKind !== 'type' &&
      isNode(source) &&
      stringOf(source)?.includes('/database/models/') === true &&
      // A model's name has a capital letter; `roles` and other constants are no models.
      [...nodesBelow(specifiers)].some(
        (one) =>
          one.type === 'ImportSpecifier' &&
          one['importKind'] !== 'type' &&
          /^[A-Z]/.test(nameOf(one['imported'])),
      ),
  );
}

/** The verbs of the command line: its commands without commands of their own. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function sizes(sources: Source[], verbs: number): void {
  const lines = sum(sources.map(({ text }) => linesOf(text)));
  const commands = sources.filter(({ file }) => file.startsWith('src/cli/commands/'));
  const characters = sum(sources.map(({ text }) => text.length));
  const operations = sources.flatMap(operationsOf);
  const runs = operations.flatMap((given) => runOf(given, sources));
  heading('Size');
  print('lines of src', lines, { most: Math.round(0.91 * linesBefore) });
  print('operations', operations.length);
  print('lines of src for each operation', lines / operations.length, { most: 400 });
  print('verbs of the command line', verbs);
  // The lines of cli/commands: a verb's flags, layout and texts.
  print('lines a verb', sum(commands.map(({ text }) => linesOf(text))) / verbs, { most: 24 });
  print('lines of what an operation runs, mean', sum(runs) / runs.length);
  const comments = sum(sources.map(({ commented }) => commented));
  print('comments, % of the characters', (100 * comments) / characters, { most: 12 });
}

interface Declared {
  source: Source;
  definition: Node;
}

/** The operations: constants that are the result of `operation` or `ownOperation`, for example. */
function operationsOf(source: Source): Declared[] {
  return source.nodes.flatMap(({ type, init }) => {
    if (type !== 'VariableDeclarator' || !isNode(init) || init.type !== 'CallExpression') return [];
    return /^(\w+O|o)peration$/.test(nameOf(init['callee'])) ? [{ source, definition: init }] : [];
  });
}

/** The lines of the function in `run`, wherever it is declared. */
function runOf({ source, definition }: Declared, sources: Source[]): number[] {
  const run = [...nodesBelow(definition['arguments'])].find(
    ({ type, key }) => type === 'Property' && nameOf(key) === 'run',
  )?.['value'];
  if (!isNode(run)) return [];
  const name = nameOf(run);
  if (name === '') return [linesIn(source, run)];
  for (const one of [source, ...sources])
    for (const node of one.nodes)
      if (node.type === 'FunctionDeclaration' && nameOf(node['id']) === name)
        return [linesIn(one, node)];
  return [];
}

function linesIn({ text }: Source, { start, end }: Node): number {
  return linesOf(text.slice(start, end));
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
