import type { Attribute, Target } from './attributes.ts';

/** A comparison of RFC 7644 §3.4.2.2 other than `pr`. */
export type Operator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** A filter, its names resolved and its values of the attribute's type; instants are milliseconds. */
export type Filter =
  | { kind: 'and' | 'or'; filters: Filter[] }
  | { kind: 'not'; filter: Filter }
  | { kind: 'present'; target: Target }
  | { kind: 'compare'; target: Target; operator: Operator; value: string | boolean | number }
  /** One element of the attribute satisfies the filter, whose targets are sub-attributes of it. */
  | { kind: 'element'; attribute: Attribute; filter: Filter };

/** The filter in the text; 400 `invalidFilter` when it is malformed, too large or names what cannot be evaluated. */
export declare function parseFilter(text: string): Filter;
