import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Stop } from '../../../database/delete-batches.ts';
import { Erasure } from '../../../database/models/erasure.ts';
import { Event } from '../../../database/models/event.ts';
import { transaction } from '../../../database/transaction.ts';
import { firstKey } from '../page.ts';
import { after } from '../time.ts';
import { type EventKind, eventKinds, personal } from './kinds.ts';
import { type By, findFurther } from './person.sql.ts';

// After a person has deleted their account, its events keep the id and lose the personal data.

/** How many days the events keep the personal data of a deleted account. */
export const keptDays = 30;

/** What events have in place of personal data. */
export const erased = 'deleted';

type Parts = Pick<Event, 'kind' | 'organizationId' | 'actor' | 'subject' | 'data'>;

/** Remembers that the events must lose the personal data of the account that is deleted now. */
export async function queueErasure(
  ctx: Context,
  { id, email }: { id: string; email: string | null },
): Promise<void> {
  await Erasure.create({ id, email, deletedAt: ctx.now });
}

/**
 * Erases the personal data of accounts that people deleted 30 days ago. Several daemons can do this
 * at the same time, and an interrupted run is repeated.
 */
export async function eraseDeleted(ctx: Context, stop?: Stop): Promise<void> {
  const deletedAt = { [Op.lte]: after(ctx.now, -keptDays * 86_400) };
  const due = await Erasure.findAll({ where: { deletedAt }, order: ['deletedAt'], limit: 100 });
  for (const erasure of due) {
    const { id, email } = erasure;
    const invitations = await erase('about', id, id, stop);
    for (const key of [...invitations, ...(email === null ? [] : [email])])
      await erase('about', key, id, stop);
    await erase('caused', id, id, stop);
    if (stop?.aborted) return;
    await transaction(() => erasure.destroy());
  }
}

const batch = 500;

/**
 * Erases the person's data in the events about the key, or in those that the person caused outside
 * organizations. Returns the ids of the invitations that the person accepted.
 */
async function erase(by: By, key: string, accountId: string, stop: Stop): Promise<string[]> {
  const invitations: string[] = [];
  for (let last = firstKey; !stop?.aborted; ) {
    const events = await findFurther(by, key, last, batch);
    await transaction(async () => {
      for (const event of events)
        await Event.update(withoutPerson(event, accountId), { where: { id: event.id } });
    });
    for (const { kind, subject } of events)
      if (kind === 'invitation.accepted' && subject !== null) invitations.push(subject.id);
    if (events.length < batch) break;
    last = events.at(-1)?.id ?? last;
  }
  return invitations;
}

/** The parts of an event about the person, without personal data. */
function withoutPerson({ kind, organizationId, actor, subject, data }: Parts, accountId: string) {
  const known: Partial<Record<string, EventKind>> = eventKinds;
  if (known[kind]?.keepsNames) return { actor, subject, data };
  const fields = personalFields(known[kind]);
  // Otherwise the subject is another person, or something of the organization, such as a client.
  const isTheirs =
    subject?.type === 'user'
      ? subject.id === accountId
      : organizationId === null || subject?.type === 'invitation';
  return {
    actor: actor.id === accountId ? withoutName(actor) : actor,
    subject: subject !== null && isTheirs ? withoutName(subject) : subject,
    data: Object.fromEntries(
      Object.entries(data).map(([field, value]) => [
        field,
        fields.has(field) && value !== null ? erased : value,
      ]),
    ),
  };
}

function withoutName<Of extends { name?: string }>(of: Of): Of {
  return of.name === undefined ? of : { ...of, name: erased };
}

/** The fields of the kind's data that are marked as personal. */
function personalFields(kind: EventKind | undefined): Set<string> {
  const fields = Object.entries(kind?.data.shape ?? {});
  return new Set(fields.flatMap(([field, schema]) => (isPersonal(schema) ? [field] : [])));
}

function isPersonal(schema: unknown): boolean {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? isPersonal(schema.unwrap()) : schema === personal;
}
