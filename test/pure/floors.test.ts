import { expect, test } from 'vitest';
import { nameOf, readSources, type Source, stringOf } from '../figures/syntax.ts';
import {
  cyclesOf,
  featureImports,
  floors,
  importsOf,
  loadedWith,
  placeOf,
  sourceFiles,
  textOf,
} from '../support/imports.ts';

// Checks the floors of services/ (docs/development/architecture.md), because Biome cannot.

const files = sourceFiles();
const imports = importsOf(files);
const between = featureImports(imports);
const height = (floor: string) => floors.indexOf(floor);

test('every file of services/ is on a floor', () => {
  const places = files
    .filter((file) => file.startsWith('src/services/'))
    .map((file) => placeOf(file)?.floor);
  expect([...new Set(places)].sort()).toEqual([...floors].sort());
});

test('no value import points to a higher floor', () => {
  expect(between.filter(({ from, to }) => height(to.floor) > height(from.floor))).toEqual([]);
});

test('no features import each other in a circle', () => {
  expect(cyclesOf(between.map(({ from, to }) => [from.feature, to.feature]))).toEqual([]);
});

test('no files import each other in a circle, imports of types included', () => {
  expect(cyclesOf(imports.map(({ from, to }) => [from, to]))).toEqual([]);
});

test('the context imports no service', () => {
  expect(
    imports.filter(({ from, to }) => from === 'src/context.ts' && placeOf(to) !== null),
  ).toEqual([]);
});

test('a daemon starts without the packages for the provider, mail and outgoing requests', () => {
  const parts = ['app', 'http/server', 'http/surface', 'jobs/scheduler', 'jobs/presence'];
  const loaded = loadedWith(
    parts.map((part) => `src/${part}.ts`),
    imports,
  );
  const lateImport = /^import (?!type )[^;]* from '(oidc-provider|nodemailer|undici)'/m;
  expect(loaded.length).toBeGreaterThan(500);
  expect(loaded.filter((file) => lateImport.test(textOf(file)))).toEqual([]);
});

// A statement, or a part that only SQL has: a join, a parameter, a column with another name.
const sqlText =
  /\b(SELECT|INSERT INTO|UPDATE \S+ SET|DELETE FROM|LOCK TABLE|JOIN|WHERE|ORDER BY|EXISTS|IS (NOT )?NULL)\b|^\s*(PRAGMA|BEGIN|COMMIT)\b|[<>=]\s*\$\d| AS "/;
/** The functions of src/database/ that take or return SQL. */
const sqlFunctions =
  /^(select(As|Among|AmongAs|Together|Within)?|execute|insertion|keeping|passing|(hold(Rows|Among)))$/;

function hasSql({ nodes }: Source): boolean {
  return nodes.some(
    (node) =>
      sqlText.test(stringOf(node) ?? '') ||
      (node.type === 'ImportSpecifier' && sqlFunctions.test(nameOf(node['imported']))),
  );
}

test('in services/, SQL stands only in files named *.sql.ts', () => {
  const others = readSources().filter(
    ({ file }) => file.startsWith('src/services/') && !file.endsWith('.sql.ts'),
  );
  expect(others.filter(hasSql).map(({ file }) => file)).toEqual([]);
});
