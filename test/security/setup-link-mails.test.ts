import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeSetupLink } from '../../src/services/tenancy/setup-links/operations.ts';
import { fresh } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { team } from '../support/team.ts';

// Setup links that are mailed, with the limits on.

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl();
});
afterAll(() => idctl?.close());

test('O6 O15 links by mail count as invitations of the organization and of the owner', async () => {
  const company = await team(idctl);
  const at = `/api/v1/orgs/${company.org.slug}/setup-links`;
  const create = (more: object) => company.clients.owner.post(at, { for: ['domain'], ...more });
  for (let count = 0; count < 50; count += 1) {
    const made = await create({ email: `${fresh('it')}@vendor.test` });
    expect([count, made.status, made.body.mailed]).toEqual([count, 201, true]);
    // A revoked link does not count toward the cap of living links.
    await revokeSetupLink(idctl.operator(), { id: made.body.id });
  }
  const email = `${fresh('it')}@vendor.test`;
  expect(await create({ email })).toMatchObject({ status: 429 });
  expect(await idctl.lettersTo(email)).toEqual([]);
  const invitations = `/api/v1/orgs/${company.org.slug}/invitations`;
  expect(await company.clients.owner.post(invitations, { email })).toMatchObject({ status: 429 });
  expect((await create({})).status).toBe(201);
});
