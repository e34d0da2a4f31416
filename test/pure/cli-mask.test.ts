import { expect, it } from 'vitest';
import { masked } from '../../src/cli/output.ts';

it.each([
  ['sqlite:/var/lib/idctl/idctl.db', 'sqlite:/var/lib/idctl/idctl.db'],
  ['postgres://host/db', 'postgres://host/db'],
  ['postgres://alex:s3cret@host:5432/db', 'postgres://alex:***@host:5432/db'],
  ['postgres://alex:s3@cret@host/db', 'postgres://alex:***@host/db'],
  [
    'postgres://host/db?user=alex&password=s3cret&ssl=1',
    'postgres://host/db?user=alex&password=***&ssl=1',
  ],
  ['smtps://alex:s3/cret@host', '***'],
  ['s3cret', '***'],
])('X4 idctl shows %s as %s', (secret, shown) => {
  expect(masked(secret)).toBe(shown);
});
