import type { z } from 'zod';
import { type KeyContext, readyKeys } from './key-set.ts';
import type { jwksView } from './schema.ts';

/** The public keys that check this instance's tokens, for anyone. */
export async function viewJwks(ctx: KeyContext): Promise<z.output<typeof jwksView>> {
  return { keys: (await readyKeys(ctx)).map((key) => key.publicJwk) };
}
