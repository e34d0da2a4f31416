import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** The account, app or system that caused an event. */
export interface EventActor {
  kind: 'operator' | 'user' | 'app' | 'scim' | 'system' | 'anonymous';
  id?: string;
  name?: string;
}

/** The person or object that an event is about. */
export interface EventSubject {
  type: string;
  id: string;
  name?: string;
}

/** An event. It is written in the transaction that it reports. */
export class Event extends Row<Event> {
  declare id: string;
  declare kind: string;
  declare at: Date;
  /** The organization of the event. It stays when the organization is deleted. */
  declare organizationId: string | null;
  declare actor: EventActor;
  declare subject: EventSubject | null;
  declare data: Record<string, unknown>;
}

/** Binds the model to the open database. */
export function initEvent(sequelize: Sequelize): void {
  Event.init(
    {
      id: column.key(),
      kind: column.string(),
      at: column.date(),
      organizationId: column.optional(column.uuid()),
      actor: column.json(),
      subject: column.optional(column.json()),
      data: column.json(),
    },
    table(sequelize, 'events', [column.index('events_organization_id', ['organization_id', 'id'])]),
  );
}
