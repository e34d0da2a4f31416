import { expect, test } from 'vitest';
import {
  connectionKindNames,
  connectionKinds,
  isConnectionKind,
  ofEachKind,
} from '../../src/connection-kinds.ts';

test('each kind of connection is in the table under its own name', () => {
  expect(connectionKindNames).toEqual(Object.keys(connectionKinds));
});

test('a value for each kind is made of that kind', () => {
  const values = ofEachKind((kind) => connectionKinds[kind].title);
  expect(values).toEqual(
    Object.fromEntries(connectionKindNames.map((kind) => [kind, connectionKinds[kind].title])),
  );
});

test('other methods, origins and sections are no kind of connection', () => {
  expect(['password', 'scim', 'social', 'domains', 'toString'].filter(isConnectionKind)).toEqual(
    [],
  );
});
