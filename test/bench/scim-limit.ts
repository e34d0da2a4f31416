import { randomUUID } from 'node:crypto';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { Tombstone } from '../../src/database/models/tombstone.ts';
import { openDatabase } from '../../src/database/open.ts';
import { transaction } from '../../src/database/transaction.ts';

// A separate process without a server. On each message, it measures transactions of four writes
// through models, sixteen at once, on one connection that uses the daemon's driver.

const database = await openDatabase({
  url: String(process.argv[2]),
  sqliteDriver: 'node',
  poolSize: 1,
});
await database.migrate();
const organizationId = randomUUID();
await transaction(() =>
  Organization.create({ id: organizationId, slug: 'limit', name: 'Limit', createdAt: new Date() }),
);

async function fourWrites(): Promise<void> {
  const [accountId, now] = [randomUUID(), new Date()];
  const subject = { type: 'user', id: accountId, name: 'Ada' };
  const key = { organizationId, accountId };
  await transaction(async () => {
    const email = `${accountId}@example.test`;
    await Account.create({ id: accountId, email, emailProof: 'none', name: 'Ada', createdAt: now });
    await Membership.create({ ...key, role: 'member', origin: { kind: 'scim' }, joinedAt: now });
    await Tombstone.create({ ...key, setAt: now });
    const event = { kind: 'limit', at: now, actor: { kind: 'system' as const }, subject, data: {} };
    await Event.create({ id: randomUUID(), organizationId, ...event });
  });
}

async function rate(ms: number): Promise<number> {
  const began = performance.now();
  let done = 0;
  const one = async () => {
    while (performance.now() - began < ms) {
      await fourWrites();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
  return (1000 * done) / (performance.now() - began);
}

process.on('message', async (ms) => process.send?.(await rate(Number(ms))));
process.once('disconnect', () => void database.close());
process.send?.('ready');
