import fc from 'fast-check';
import { enterpriseSchema } from '../../src/services/foundation/scim-user/attribute.ts';

// Input that only attackers send on purpose.

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      'userName',
      'emails',
      'emails.value',
      'name.givenName',
      `${enterpriseSchema}:manager`,
      'active',
      'meta.created',
    ],
    ...[
      'eq',
      'CO',
      'pr',
      'gt',
      'and',
      'or',
      'not',
      '(',
      ')',
      '[',
      ']',
      '].value',
      '"x"',
      '"',
      '\\',
      '\\"',
      'null',
    ],
    ...[
      '__proto__',
      'constructor',
      'prototype',
      '$ref',
      '$1',
      "'",
      '--',
      ';',
      '%',
      '\0',
      '\ud800',
      '😀',
      '"\\u0000"',
    ],
    ...[
      '"\\ud83d\\ude00"',
      '"\\x"',
      '"2011-05-13T04:42:34Z"',
      'true',
      '1e999',
      '-0',
      ' ',
      '\n',
      '.',
      ':',
      ',',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc
    .constantFrom('(', '[', 'not (', '"')
    .chain((text) => fc.nat(50).map((count) => text.repeat(count))),
);
/**
 * Random text from the parts of filters, paths and resources, and from text that is dangerous in
 * SQL, JSON and prototypes.
 */
export const noise = fc
  .array(piece, { maxLength: 30 })
  .chain((pieces) => fc.constantFrom(' ', '').map((by) => pieces.join(by)));

const name = fc.oneof(
  fc.constantFrom(
    ...[
      'userName',
      'active',
      'emails',
      'name',
      'roles',
      'id',
      'schemas',
      'Operations',
      'op',
      'path',
      'value',
      'type',
    ],
    ...[
      'primary',
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      enterpriseSchema,
      'name.givenName',
    ],
    ...['emails[type eq "work"].value', `${enterpriseSchema}:manager`, 'addresses', '', 'length'],
  ),
  noise,
);
const values = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      'True',
      '',
      0,
      -1,
      1e308,
      [],
      {},
      'work',
      '\0',
      '\ud800',
      '__proto__',
    ),
    noise,
    fc.array(tie('json'), { maxLength: 4 }),
    // Parsed like a request body: JSON.parse makes every name an own property, even `__proto__`.
    fc
      .array(fc.tuple(name, tie('json')), { maxLength: 5 })
      .map((entries) =>
        JSON.parse(
          `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)}}`,
        ),
      ),
  ),
}));

/** Any JSON, often with the names of attributes. */
export const { json } = values;

const path = fc.oneof(
  name,
  noise.map((inside) => `emails[${inside}].value`),
);
const operation = fc.record(
  {
    op: fc.oneof({ weight: 9, arbitrary: fc.constantFrom('add', 'Replace', 'REMOVE') }, json),
    path,
    value: json,
  },
  { requiredKeys: ['op', 'value'] },
);
/** The body of a PATCH, often well formed. */
export const patches = fc.oneof(
  fc.record({ Operations: fc.array(operation, { maxLength: 4 }) }),
  json,
);
