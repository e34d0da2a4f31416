import { Refusal } from '../../../../errors.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { etag } from '../view.ts';

/** Refuses if `If-Match` names only other versions (RFC 7644 §3.14). */
export function requireMatch(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || namesTag(ifMatch, etag(version))) return;
  throw new Refusal('version_mismatch', 'The User has changed since.', {
    hint: 'Read it again and send the new meta.version.',
  });
}

/**
 * Whether the header, a list of entity tags or `*`, names this one. Weak and strong tags count
 * alike.
 */
export function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((named) => named.trim() === '*' || opaque(named) === opaque(tag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//i, '').replace(/^"|"$/g, '');
}

/** The refusal of a name or address that another User of the organization has. */
export function notUnique(userName: string): Refusal {
  return scimRefusal(409, 'uniqueness', `There is a User ${userName.slice(0, 200)} already.`);
}
