import { z } from 'zod';
import { publicJwkSchema } from '../../../crypto/jwt.ts';
import { type KeyContext, readyKeys } from './key-set.ts';

/** RFC 7517 §5. */
export const jwksView = z.strictObject({ keys: z.array(publicJwkSchema) });

/** The public keys that check this instance's tokens, for anyone. */
export async function viewJwks(ctx: KeyContext): Promise<z.output<typeof jwksView>> {
  return { keys: (await readyKeys(ctx)).map((key) => key.publicJwk) };
}
