import type { ScimResource } from './attributes.ts';
import type { Filter } from './filter.ts';

/** Whether the resource, as shown to clients (with `id`, `active` and `meta`), satisfies the filter. */
export declare function matches(resource: ScimResource, filter: Filter): boolean;
