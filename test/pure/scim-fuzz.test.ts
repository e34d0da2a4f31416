import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { readCreation } from '../../src/services/foundation/scim-user/resource.ts';
import { searchDocument, searchEmails } from '../../src/services/foundation/scim-user/search.ts';
import { filterCondition } from '../../src/services/provisioning/scim/filter.sql.ts';
import { parseFilter } from '../../src/services/provisioning/scim/filter.ts';
import { matches } from '../../src/services/provisioning/scim/filter-match.ts';
import { applyPatch } from '../../src/services/provisioning/scim/patch.ts';
import { readProjection } from '../../src/services/provisioning/scim/view.ts';
import { long, resources, seen } from '../support/scim.ts';
import { json, noise, patches } from '../support/scim-noise.ts';

const options = { numRuns: long ? 10_000 : 1000 };

/** Returns the result of the work, or null after a SCIM refusal. Other errors are thrown. */
function outcome<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'scim_invalid') return null;
    throw error;
  }
}

/** Checks that a database can store the value, and returns it. */
function storable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') expect(value.includes('\0') || !value.isWellFormed()).toBe(false);
  return value;
}

afterEach(() => {
  for (const key of ['x', 'value', 'type', 'polluted']) {
    expect(({} as Record<string, unknown>)[key]).toBeUndefined();
  }
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test('any text is a filter or refused; the SQL of a filter has only fixed parts and parameters', () => {
  fc.assert(
    fc.property(noise, resources, (text, resource) => {
      const filter = outcome(() => parseFilter(text));
      if (filter === null) return;
      expect(matches(seen(resource, 'i', true, new Date(0)), filter)).toBeTypeOf('boolean');
      for (const dialect of ['sqlite', 'postgres'] as const) {
        const { sql, bind } = filterCondition(filter, { dialect, first: 2, organization: 1 });
        expect(sql).toMatch(/^[\w\s()[\].,:"'{}$#<>=|*+-]*$/);
        expect(sql).not.toMatch(/undefined|NaN|\[object/);
        expect(Math.max(1, ...[...sql.matchAll(/\$(\d+)/g)].map(([, at]) => Number(at)))).toBe(
          bind.length + 1,
        );
      }
    }),
    options,
  );
});

test('any JSON is a resource or refused; a resource can be shown and searched', () => {
  fc.assert(
    fc.property(json, noise, (body, asked) => {
      const resource = outcome(() => readCreation(body));
      if (resource === null) return;
      const view = seen(resource, 'i', true, new Date(0));
      expect(outcome(() => readProjection({ attributes: asked }).of(view))).toMatchObject({
        id: 'i',
      });
      JSON.stringify([searchDocument(resource), searchEmails(resource)], storable);
      expect(readCreation(resource)).toEqual(resource);
    }),
    options,
  );
});

test('any operations are a patch or refused; a patch leaves a valid resource', () => {
  fc.assert(
    fc.property(resources, patches, (resource, patch) => {
      const before = structuredClone(resource);
      const patched = outcome(() => applyPatch(resource, patch));
      expect(resource).toEqual(before);
      if (patched === null) return;
      expect(readCreation(patched.resource)).toEqual(patched.resource);
      expect(patched.active).toBe(patched.resource['active']);
    }),
    options,
  );
});
