import { createHash } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { SpentState } from '../../../database/models/spent-state.ts';
import { after } from '../../foundation/time.ts';
import { type FlowState, stateSeconds } from './state.ts';

// RFC 6749 §10.10 wants 128 bits of a code. A shorter one is no secret, and may repeat by chance.
const shortest = 22;

/**
 * Claims the code for the provider it is about to be sent to; returns false if another provider
 * already got it. A dishonest provider can send people on to an honest one and receive their codes
 * itself. It can then use these in a sign-in begun there (RFC 9700 §4.4); the code alone does not
 * show this (security S5). Call it in a transaction of its own, before the network.
 */
export async function claimCode(
  ctx: Context,
  { issuer }: FlowState,
  code: string,
): Promise<boolean> {
  if (code.length < shortest) return true;
  const used = `code ${digest(code)}`;
  const usedHere = `${used} ${digest(issuer)}`;
  const found = await SpentState.findAll({ where: { id: [used, usedHere] } });
  if (found.length > 0) return found.some(({ id }) => id === usedHere);
  const expiresAt = after(ctx.now, stateSeconds);
  const rows = [used, usedHere].map((id) => ({ id, expiresAt }));
  await SpentState.bulkCreate(rows, { ignoreDuplicates: true });
  return true;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
