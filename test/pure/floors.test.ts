import { expect, test } from 'vitest';
import {
  cyclesOf,
  featureImports,
  floors,
  importsOf,
  placeOf,
  sourceFiles,
} from '../../scripts/imports.ts';

// The floors of services/ (docs/architecture.md). Biome cannot tell them apart, so this test holds them.

const files = sourceFiles();
const imports = importsOf(files);
const between = featureImports(imports);
const height = (floor: string) => floors.indexOf(floor);

test('every file of services/ stands on a floor', () => {
  const places = files
    .filter((file) => file.startsWith('src/services/'))
    .map((file) => placeOf(file)?.floor);
  expect([...new Set(places)].sort()).toEqual([...floors].sort());
});

test('no value import points up', () => {
  expect(between.filter(({ from, to }) => height(to.floor) > height(from.floor))).toEqual([]);
});

test('the features form no cycle', () => {
  expect(cyclesOf(between.map(({ from, to }) => [from.feature, to.feature]))).toEqual([]);
});

test('the files form no cycle, imports of types included', () => {
  expect(cyclesOf(imports.map(({ from, to }) => [from, to]))).toEqual([]);
});

test('the context imports no service', () => {
  expect(
    imports.filter(({ from, to }) => from === 'src/context.ts' && placeOf(to) !== null),
  ).toEqual([]);
});
