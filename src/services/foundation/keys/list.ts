import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { requireOperator } from '../authority/require.ts';
import { listCanaries } from './canary.ts';
import type { keyPage, listKeysInput } from './schema.ts';
import { viewMasterKey, viewSigningKey } from './view.ts';

/** The master keys and the keys that sign sessions, the oldest first; there are never more than a few. */
export async function listKeys(
  ctx: Context,
  _input: z.output<typeof listKeysInput>,
): Promise<z.input<typeof keyPage>> {
  requireOperator(ctx);
  const [current, ...former] = await listCanaries();
  const masters = [
    ...former.map((canary) => viewMasterKey(canary, 'opens')),
    ...(current === undefined ? [] : [viewMasterKey(current, 'seals')]),
  ];
  const keys = await SigningKey.findAll({
    order: [
      ['createdAt', 'ASC'],
      ['id', 'ASC'],
    ],
  });
  const isRetired = ({ retiredAt }: SigningKey) => retiredAt !== null && retiredAt <= ctx.now;
  const signer = keys.find((key) => !isRetired(key));
  const signing = keys.map((key) =>
    viewSigningKey(key, isRetired(key) ? 'verifies' : key === signer ? 'signs' : 'waits'),
  );
  return { items: [...masters, ...signing], nextCursor: null };
}
