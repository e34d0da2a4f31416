import type { Attribute, ScimResource, ScimValue } from '../../foundation/scim-user/attribute.ts';
import { fold, type Target } from '../../foundation/scim-user/names.ts';
import { isComplex, valuesIn } from '../../foundation/scim-user/values.ts';
import type { Filter } from './filter.ts';
import type { FilterOperator } from './filter-tokens.ts';

/** Whether the filter matches the resource as clients see it (with `id`, `active`, `meta`). */
export function matches(resource: ScimResource, filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((part) => matches(resource, part));
    case 'or':
      return filter.filters.some((part) => matches(resource, part));
    case 'not':
      return !matches(resource, filter.filter);
    case 'present':
      return valuesAt(resource, filter.target).some(isPresent);
    case 'element':
      return valuesIn(resource, filter.attribute).some(
        (element) => isComplex(element) && matches(element, filter.filter),
      );
    case 'compare': {
      const { target, operator, value } = filter;
      const values = valuesAt(resource, target);
      // An attribute without a value satisfies only `ne`.
      if (values.length === 0) return operator === 'ne';
      const attribute = target.sub ?? target.attribute;
      return values.some((held) => compares(attribute, operator, held, value));
    }
  }
}

/** The values of the target. An element without the sub-attribute gives undefined. */
function valuesAt(resource: ScimResource, { attribute, sub }: Target): (ScimValue | undefined)[] {
  const values = valuesIn(resource, attribute);
  return sub === null
    ? values
    : values.map((value) => (isComplex(value) ? value[sub.name] : undefined));
}

function isPresent(value: ScimValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.some(isPresent);
  return isComplex(value) ? Object.values(value).some(isPresent) : true;
}

function compares(
  attribute: Attribute,
  operator: FilterOperator,
  held: ScimValue | undefined,
  value: string | boolean | number,
): boolean {
  if (typeof held === 'string' && typeof value === 'string') {
    const form = attribute.caseExact ? (text: string) => text : fold;
    return comparesText(operator, form(held), form(value));
  }
  if (typeof held === 'string' && typeof value === 'number')
    return ordered(operator, Date.parse(held) - value);
  return operator === 'ne' ? held !== value : operator === 'eq' && held === value;
}

function comparesText(operator: FilterOperator, held: string, value: string): boolean {
  if (operator === 'co') return held.includes(value);
  if (operator === 'sw') return held.startsWith(value);
  if (operator === 'ew') return held.endsWith(value);
  // Compares code points, as both databases do, not UTF-16 units.
  return ordered(operator, Buffer.compare(Buffer.from(held), Buffer.from(value)));
}

function ordered(operator: FilterOperator, difference: number): boolean {
  if (operator === 'eq') return difference === 0;
  if (operator === 'ne') return difference !== 0;
  if (operator === 'gt') return difference > 0;
  if (operator === 'ge') return difference >= 0;
  return operator === 'lt' ? difference < 0 : operator === 'le' && difference <= 0;
}
