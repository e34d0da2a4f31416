import { expect, test } from 'vitest';
import { showStatus, statusView } from '../../src/services/instance/status.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { organization, signedIn } from '../support/builders.ts';
import { openInstance } from '../support/instance.ts';
import { connected } from '../support/sso.ts';

test('interface page: idctl status shows the counts of each organization, and names problems', async () => {
  const idctl = await openInstance();
  const { org } = await connected(idctl, 'https://idp.acme.test');
  await addDomain(idctl.operator(), { org: org.slug, domain: 'pending.test' });
  await rotateScimToken(idctl.operator(), { org: org.slug });
  await signedIn(idctl, org.owner.email);
  const bare = await organization(idctl);
  const view = statusView.parse(await showStatus(idctl.operator(), {}));
  expect(view).toMatchObject({
    daemon: { ready: true },
    database: { bytes: expect.any(Number), schema: expect.stringMatching(/^\d{4}-/) },
    people: 2,
    sessions: 1,
  });
  expect(view.database.bytes).toBeGreaterThan(100_000);
  const counted = { members: 1, owners: 1 };
  expect(view.organizations).toEqual([
    {
      slug: org.slug,
      name: org.name,
      ...counted,
      domains: { verified: 1, pending: 1 },
      sso: 'enabled',
      ldap: 'none',
      scim: 'unused',
      lastSignInAt: expect.stringMatching(/^\d{4}-.+Z$/),
    },
    {
      slug: bare.slug,
      name: bare.name,
      ...counted,
      domains: { verified: 0, pending: 0 },
      sso: 'none',
      ldap: 'none',
      scim: 'none',
      lastSignInAt: null,
    },
  ]);
  expect(view.problems).toEqual([
    expect.stringMatching(`^SCIM of ${org.slug}: no call with this token yet at `),
  ]);
  // A session ends after two weeks without use.
  idctl.wait(15 * 86_400);
  expect(await showStatus(idctl.operator(), {})).toMatchObject({ sessions: 0 });
});
