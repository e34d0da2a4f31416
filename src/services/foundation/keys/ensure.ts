import { SigningKey } from '../../../database/models/signing-key.ts';
import { transaction } from '../../../database/transaction.ts';
import type { KeyContext } from './signing-key.ts';

/** Makes sure, when the app opens, that there is a key to sign sessions with (security X2). */
export async function ensureSigningKey(ctx: KeyContext): Promise<void> {
  if (await hasCurrent()) return;
  // Loaded only to make the first key: a command signs nothing and should start fast.
  const { forgetKeys, makeSigningKey } = await import('./signing-key.ts');
  const made = await makeSigningKey(ctx);
  await transaction(async () => {
    // Two daemons that start at once on PostgreSQL may each make one: both verify, the oldest
    // signs.
    if (await hasCurrent()) return;
    await SigningKey.create(made);
  });
  forgetKeys(ctx);
}

async function hasCurrent(): Promise<boolean> {
  return (await SigningKey.count({ where: { retiredAt: null } })) > 0;
}
