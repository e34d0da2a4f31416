import {
  type Attribute,
  enterpriseSchema,
  type ScimResource,
  type ScimValue,
} from './attribute.ts';
import { attributes } from './attributes.ts';
import { fold } from './names.ts';
import { isComplex, schemasOf, valueIn, valuesIn } from './values.ts';

// The searchable copy of a resource. No SQL function folds letters like JavaScript, so filtered
// values are folded when written. Every value is a text, and every multi-valued attribute a list.

/** The key of an attribute in a search document. */
export function searchKey(attribute: Attribute): string {
  // The query would read a dollar sign as a parameter.
  return attribute.name.replace('$', '');
}

/** The path of the attribute in a search document. */
export function searchPath(attribute: Attribute): string[] {
  return attribute.schema === enterpriseSchema
    ? ['enterprise', searchKey(attribute)]
    : [searchKey(attribute)];
}

/** The content of `scim_records.search`: the resource, folded where it is not case-exact. */
export function searchDocument(resource: ScimResource): ScimResource {
  const all = { ...resource, schemas: schemasOf(resource), meta: { resourceType: 'User' } };
  const document: ScimResource = {};
  const enterprise: ScimResource = {};
  for (const attribute of attributes) {
    const value = valueIn(all, attribute);
    if (value === undefined || !attribute.searchable || attribute.column !== null) continue;
    const into = attribute.schema === enterpriseSchema ? enterprise : document;
    into[searchKey(attribute)] = attribute.multiValued
      ? valuesIn(all, attribute).map((element) => searchable(attribute, element))
      : searchable(attribute, value);
  }
  return Object.keys(enterprise).length === 0 ? document : { ...document, enterprise };
}

/** The rows of `scim_emails`: the folded addresses, without duplicates. */
export function searchEmails(resource: ScimResource): string[] {
  const email = attributes.find((attribute) => attribute.name === 'emails');
  const elements = email === undefined ? [] : valuesIn(resource, email);
  const values = elements.map((element) => (isComplex(element) ? element['value'] : undefined));
  return [...new Set(values.filter((value) => typeof value === 'string').map(fold))];
}

function searchable(attribute: Attribute, value: ScimValue): ScimValue {
  if (!isComplex(value)) return attribute.caseExact ? String(value) : fold(String(value));
  const parts: ScimResource = {};
  for (const sub of attribute.subAttributes) {
    const part = value[sub.name];
    if (part !== undefined && part !== null) parts[searchKey(sub)] = searchable(sub, part);
  }
  return parts;
}
