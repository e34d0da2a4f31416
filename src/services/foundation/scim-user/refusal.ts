import { Refusal } from '../../../errors.ts';
import type { ScimType } from '../../../reasons.ts';

const codes = { 400: 'scim_invalid', 404: 'not_found', 409: 'already_exists' } as const;

/** A refusal for the SCIM API, which shows its `scimType` as RFC 7644 §3.12 requires. */
export function scimRefusal(
  status: keyof typeof codes,
  scimType: ScimType | undefined,
  detail: string,
): Refusal {
  return new Refusal(codes[status], detail, { scimType });
}
