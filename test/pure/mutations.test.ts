import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { foundByOthers } from '../../scripts/mutations/found-by-others.ts';
import { ofSaml } from '../../scripts/mutations/saml.ts';
import { ofSamlConnection } from '../../scripts/mutations/saml-connection.ts';
import { mutations } from '../../scripts/mutations/table.ts';

test('each mutation names a line that its file has once, and a test that exists', () => {
  const all = [...mutations, ...foundByOthers, ...ofSaml, ...ofSamlConnection];
  const stale = all.filter(
    ({ file, from, test }) =>
      readFileSync(file, 'utf8').split(from).length !== 2 || !existsSync(test),
  );
  expect(stale.map(({ rule, file, from }) => ({ rule, file, from }))).toEqual([]);
});
