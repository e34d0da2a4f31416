import { describe, expect, test, vi } from 'vitest';
import { directOf } from '../../src/database/direct.ts';
import { Account } from '../../src/database/models/account.ts';
import { servedDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { domainOf } from '../../src/services/foundation/domain-names/canonical.ts';
import { createUser, disableUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeSignInSettings,
  showSignInSettings,
} from '../../src/services/tenancy/signin-settings/operations.ts';
import { findPeopleShutOut } from '../../src/services/tenancy/signin-settings/people-shut-out.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, organization, person, verifiedDomain } from '../support/builders.ts';
import type { Idctl } from '../support/idctl.ts';
import { openInstance } from '../support/instance.ts';
import { peopled } from '../support/peopled.ts';
import { clientOf } from '../support/scim-client.ts';
import { connected, registration } from '../support/sso.ts';

// Before a change of the sign-in settings, an admin sees which people it leaves without a way in.

const passwordOff = { password: false, passkey: false };

/** An organization with a verified domain, whose owner signs in by single sign-on alone. */
async function company(idctl: Idctl) {
  const { org, domain } = await connected(idctl, 'https://idp.acme.test');
  const join = async (email: string, role: 'member' | 'owner' = 'member') => {
    const { id } = await person(idctl, email);
    await addMember(idctl.operator(), { org: org.slug, email, role });
    return id;
  };
  await join(`boss@${domain}`, 'owner');
  await disableUser(idctl.operator(), { user: org.owner.id });
  const find = (change: object) =>
    findPeopleShutOut(idctl.operator(), { org: org.slug, ...change });
  return { org, domain, join, find };
}

describe('the people that a change of the sign-in settings shuts out', () => {
  test('O3 are those with a way in before and none after, and nothing is changed', async () => {
    const idctl = await openInstance();
    const { org, domain, join, find } = await company(idctl);
    const other = await verifiedDomain(idctl, org.slug);
    const [ada, ben] = [`ada@${other}`, `ben@${other}`];
    await join(ada);
    // Single sign-on is for the first domain.
    await join(`eve@${domain}`);
    await disableUser(idctl.operator(), { user: await join(ben) });
    // Without a password, this person has no way in before the change.
    const carl = `carl@${other}`;
    await createUser(idctl.operator(), { email: carl, name: 'Carl' });
    await addMember(idctl.operator(), { org: org.slug, email: carl, role: 'member' });
    const before = await showSignInSettings(idctl.operator(), { org: org.slug });
    expect(await find(passwordOff)).toEqual({ count: 1, people: [ada] });
    expect(await find({ github: false })).toEqual({ count: 0, people: [] });
    expect(await showSignInSettings(idctl.operator(), { org: org.slug })).toEqual(before);
    await changeSignInSettings(idctl.operator(), { org: org.slug, ...passwordOff });
    expect(await find({ google: false })).toEqual({ count: 0, people: [] });
  });

  test('O3 O1 O8 are only those that these settings govern, and whose account is the organization’s own', async () => {
    const idctl = await openInstance();
    const { org, join, find } = await company(idctl);
    const foreign = `fay@${fresh('foreign')}.test`;
    await join(foreign);
    // The only organization governs every address.
    expect(await find(passwordOff)).toEqual({ count: 1, people: [foreign] });
    const { email } = await person(idctl, `gus@${domainOf(foreign)}`);
    const client = clientOf(
      idctl,
      org,
      (await rotateScimToken(idctl.operator(), { org: org.slug })).token,
    );
    await client.create({ userName: email ?? '', displayName: 'Pushed' });
    expect(await find(passwordOff)).toEqual({ count: 1, people: [foreign] });
    await organization(idctl);
    expect(await find(passwordOff)).toEqual({ count: 0, people: [] });
  });

  test('O3 a change that locks every owner out is refused as before', async () => {
    const idctl = await openInstance();
    const org = await organization(idctl);
    await expect(
      findPeopleShutOut(idctl.operator(), { org: org.slug, ...passwordOff }),
    ).rejects.toMatchObject({ code: 'owners_locked_out' });
  });

  test('O3 are counted with a few statements, and ten are named', async () => {
    const idctl = await openInstance();
    const names = Array.from({ length: 2500 }, (_, at) => `Person ${at}`);
    const { org } = await peopled(idctl, names);
    const emailDomain = await verifiedDomain(idctl, org.slug, 'example.test');
    const sso = { org: org.slug, emailDomain, issuer: 'https://idp.acme.test', enabled: true };
    await saveSso(idctl.operator(), saveSsoInput.parse({ ...sso, ...registration }));
    const others = `d-${emailDomain}`;
    await verifiedDomain(idctl, org.slug, others);
    await transaction(async () => {
      for (const [at, name] of names.entries())
        await Account.update(
          { email: `p${at}@${others}`, passwordHash: 'none' },
          { where: { name } },
        );
    });
    const database = servedDatabase();
    const read = vi.spyOn(directOf(database), 'read');
    const query = vi.spyOn(database, 'query');
    const found = findPeopleShutOut(idctl.operator(), { org: org.slug, ...passwordOff });
    const { count, people } = await found;
    const statements = read.mock.calls.length + query.mock.calls.length;
    read.mockRestore();
    query.mockRestore();
    expect(count).toBe(2500);
    expect(people).toHaveLength(10);
    expect(statements).toBeLessThan(25);
  });
});
