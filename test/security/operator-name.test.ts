import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebhookDelivery } from '../../src/database/models/webhook-delivery.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listAllEvents } from '../../src/services/foundation/events/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { fresh, organization, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { runMigration } from '../support/migration.ts';

// Security X9: organizations must not learn which account of the host the operator uses.

const systemAccount = 'deploy-canary';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
});
afterAll(() => idctl.close());

const operator = () => idctl.as({ kind: 'operator', name: systemAccount });

/** Makes an organization in which the operator adds a webhook, a domain, people and a project. */
async function workedOn() {
  const { slug, owner } = await organization(idctl);
  const ctx = operator();
  const url = 'https://hooks.example.test/';
  const webhook = await addWebhook(ctx, addWebhook.input.parse({ org: slug, url }));
  const domain = `${fresh('d')}.test`;
  await addDomain(ctx, { org: slug, domain });
  await assertDomain(ctx, { org: slug, domain });
  const email = `${fresh('mia')}@${domain}`;
  await createUser(ctx, { email, name: 'Mia' });
  await addMember(ctx, { org: slug, email, role: 'member' });
  await createProject(ctx, { org: slug, name: 'Website', slug: 'website' });
  await putProjectMember(ctx, { org: slug, project: 'website', user: email, role: 'viewer' });
  await createInvitation(ctx, { org: slug, email: `${fresh('ina')}@example.test`, role: 'member' });
  return { slug, owner: await signedIn(idctl, owner.email), webhook: webhook.id };
}

test('X9 an organization’s owner cannot read the name of the operator’s system account', async () => {
  const { slug, owner } = await workedOn();
  const at = `/api/v1/orgs/${slug}`;
  const seen = await Promise.all(
    [
      '/events',
      '/members',
      '/invitations',
      '/domains',
      '/webhooks',
      '/projects',
      '/projects/website/members',
    ].map((path) => owner.get(at + path)),
  );
  expect(seen.map(({ status }) => status)).toEqual(seen.map(() => 200));
  expect(JSON.stringify(seen.map(({ body }) => body))).not.toContain(systemAccount);
  const events: { kind: string; actor: unknown }[] = seen[0]?.body.items;
  const verified = events.find(({ kind }) => kind === 'domain.verified');
  expect(verified?.actor).toEqual({ kind: 'operator', name: 'operator' });
});

test('X9 a webhook names `operator`, not the system account', async () => {
  const { webhook } = await workedOn();
  const bodies = (await WebhookDelivery.findAll({ where: { webhookId: webhook } })).map(
    ({ body }) => body,
  );
  expect(bodies.length).toBeGreaterThan(5);
  expect(bodies.join()).toContain('"actor":{"kind":"operator","name":"operator"}');
  expect(bodies.join()).not.toContain(systemAccount);
});

test('X9 the operator sees which system account acted, but not in the events of one organization', async () => {
  const { slug } = await workedOn();
  const all = await listAllEvents(operator(), { limit: 200 });
  const theirs = all.items.filter(({ organization: of }) => of === slug);
  expect(theirs.map(({ actor }) => actor.name)).toContain(systemAccount);
  const within = await listAllEvents(operator(), { limit: 200, org: slug });
  expect(JSON.stringify(within)).not.toContain(systemAccount);
});

test('X9 the migration replaces the operator’s system account with `operator` in existing deliveries', async () => {
  const { webhook } = await workedOn();
  const [first, second] = await WebhookDelivery.findAll({
    where: { webhookId: webhook },
    order: ['id'],
  });
  if (first === undefined || second === undefined) throw new Error('there are no deliveries');
  const actor = { kind: 'operator', name: systemAccount };
  const old = { type: 'x', timestamp: 't', data: { id: 'i', actor, data: { name: 'ä "quoted"' } } };
  const person = {
    ...old,
    data: { ...old.data, actor: { kind: 'user', id: 'u', name: systemAccount } },
  };
  await transaction(async () => {
    await first.update({ body: JSON.stringify(old) });
    await second.update({ body: JSON.stringify(person) });
  });
  await runMigration('0025-operator-in-deliveries');
  await Promise.all([first.reload(), second.reload()]);
  const masked = { ...old, data: { ...old.data, actor: { kind: 'operator', name: 'operator' } } };
  expect(JSON.parse(first.body)).toEqual(masked);
  expect(JSON.parse(second.body)).toEqual(person);
});
