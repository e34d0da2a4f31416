/** A JSON value. */
export type ScimValue = string | number | boolean | null | ScimValue[] | ScimResource;

/** A resource, or the complex value of an attribute; attribute names are spelled as the table spells them. */
export interface ScimResource {
  [attribute: string]: ScimValue;
}

/** Where the value of an attribute is looked up, when not in the JSON of the record. */
export type Column = 'id' | 'userName' | 'externalId' | 'active' | 'created' | 'lastModified' | 'email';

/** One attribute of RFC 7643 §7, and where idctl finds its value. */
export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'complex';
  readonly multiValued: boolean;
  readonly caseExact: boolean;
  readonly required: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'writeOnly';
  readonly returned: 'always' | 'default' | 'never';
  readonly uniqueness: 'none' | 'server' | 'global';
  readonly description: string;
  readonly canonicalValues: readonly string[];
  readonly referenceTypes: readonly string[];
  readonly subAttributes: readonly Attribute[];
  /** The schema that defines it; empty for the common attributes of RFC 7643 §3.1 and for sub-attributes. */
  readonly schema: string;
  readonly column: Column | null;
}

/** The schema of the core User. */
export declare const userSchema: 'urn:ietf:params:scim:schemas:core:2.0:User';
/** The schema of the enterprise extension. */
export declare const enterpriseSchema: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** Every attribute that a User has, the extension's included. */
export declare const attributes: readonly Attribute[];

/** What a text names: an attribute and, when it names one, its sub-attribute. */
export interface Target {
  attribute: Attribute;
  sub: Attribute | null;
}

/** What the name means, in any case of letters, with or without its schema's URN (RFC 7644 §3.10), or null. */
export declare function findTarget(name: string): Target | null;

/** The form in which values that are not case-exact are compared and stored for look-up. */
export declare function fold(text: string): string;
