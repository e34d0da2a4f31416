// The properties of an attribute of a resource (RFC 7643 §7).

/** A JSON value. */
export type ScimValue = string | number | boolean | null | ScimValue[] | ScimResource;

/** A resource, or the complex value of an attribute. Names are spelled as in the table. */
export interface ScimResource {
  [attribute: string]: ScimValue;
}

/** A value that is looked up in its own column, not in the JSON of the record. */
export type Column =
  | 'id'
  | 'userName'
  | 'externalId'
  | 'active'
  | 'created'
  | 'lastModified'
  | 'email'
  | 'displayName'
  | 'resourceType'
  | 'group'
  | 'member';

/** One attribute of RFC 7643 §7, and where idctl finds its value. */
export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'integer' | 'dateTime' | 'reference' | 'binary' | 'complex';
  readonly multiValued: boolean;
  readonly caseExact: boolean;
  readonly required: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'writeOnly' | 'immutable';
  readonly returned: 'always' | 'default' | 'never';
  readonly uniqueness: 'none' | 'server' | 'global';
  readonly description: string;
  readonly canonicalValues: readonly string[];
  readonly referenceTypes: readonly string[];
  readonly subAttributes: readonly Attribute[];
  /** The schema that defines it; empty for common attributes (RFC 7643 §3.1) and sub-attributes. */
  readonly schema: string;
  readonly column: Column | null;
  /** Whether filters and sorting can use it. */
  readonly searchable: boolean;
  /**
   * The maximum number of UTF-16 units. An indexed value must fit into an index page of every
   * database.
   */
  readonly maxLength: number;
}

/** The schema of the core User. */
export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** The schema of the enterprise extension. */
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

type Properties = Partial<Attribute>;

/** A string attribute, unless `more` gives another type. */
export function text(name: string, description: string, more: Properties = {}): Attribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    caseExact: false,
    required: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    description,
    canonicalValues: [],
    referenceTypes: [],
    subAttributes: [],
    schema: '',
    column: null,
    searchable: true,
    maxLength: Number.POSITIVE_INFINITY,
    ...more,
  };
}

/** A boolean attribute. */
export const boolean = (name: string, description: string, more: Properties = {}) =>
  text(name, description, { type: 'boolean', ...more });

/** A URI attribute. */
export const reference = (
  name: string,
  description: string,
  referenceTypes: string[],
  more: Properties = {},
) => text(name, description, { type: 'reference', caseExact: true, referenceTypes, ...more });

/** An attribute with sub-attributes. */
export const complex = (
  name: string,
  description: string,
  subAttributes: Attribute[],
  more: Properties = {},
) => text(name, description, { type: 'complex', subAttributes, ...more });
