import { z } from 'zod';
import type { Session } from '../../../database/models/session.ts';
import { id, instant } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';

export const sessionView = z.object({
  id,
  method: z.string(),
  connection: z.string().optional(),
  createdAt: instant,
  lastSeenAt: instant,
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  current: z.boolean(),
});
export const sessionPage = pageOf(sessionView);

/** A session as its owner and the operator see it; `current` is the id of the caller's session. */
export function viewSession(session: Session, current: string | null) {
  const { id, method, connectionId, createdAt, lastSeenAt, address, userAgent } = session;
  return {
    id,
    method,
    ...(connectionId === null ? {} : { connection: connectionId }),
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    address,
    userAgent,
    current: id === current,
  };
}
