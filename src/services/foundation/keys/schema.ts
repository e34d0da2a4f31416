import { z } from 'zod';
import { publicJwkSchema } from '../../../crypto/jwt.ts';
import { instant } from '../fields.ts';
import { pageInput, pageOf } from '../page.ts';

/** `/.well-known/jwks.json` asks nothing. */
export const jwksInput = z.strictObject({});

/** RFC 7517 §5. */
export const jwksView = z.strictObject({ keys: z.array(publicJwkSchema) });

export const listKeysInput = z.strictObject(pageInput);
export const rotateSigningKeyInput = z.strictObject({});
export const leavingKeysInput = z.strictObject({});
export const leavingKeysView = z.object({ ids: z.array(z.string()) });
export const rotateMasterKeyInput = z.strictObject({ prepare: z.boolean().default(false) });

export const keyView = z.object({
  id: z.string(),
  purpose: z.enum(['master', 'signing']),
  /**
   * A master key seals, and then only opens what it sealed. A signing key waits to be known everywhere, signs, then only
   * verifies until its last token has ended.
   */
  state: z.enum(['seals', 'opens', 'waits', 'signs', 'verifies']),
  createdAt: instant,
  retiredAt: instant.nullable(),
});
export const keyPage = pageOf(keyView);
export const newKeyView = keyView.extend({ signsFrom: instant });

/** What became of a rotation: a new key, one that waits in the file, or the end of a rotation that was broken off. */
export const newMasterKeyView = z.object({
  id: z.string(),
  state: z.enum(['rotated', 'prepared', 'finished']),
  former: z.string().nullable(),
  resealed: z.int(),
});
