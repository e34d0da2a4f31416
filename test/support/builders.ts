import { createUser } from '../../src/services/people/users/operations.ts';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import type { Client } from './http.ts';
import type { Idctl } from './idctl.ts';

/** The part of an instance that the builders need. */
export type Operated = Pick<Idctl, 'operator'>;

let count = 0;

/** Returns a name that is unique in the run. */
export function fresh(word: string): string {
  count += 1;
  return `${word}${process.pid}x${count}`;
}

/** The password of every account that the builders create. */
export const password = 'correct horse battery';

/** Creates an account with a password and an address. */
export async function person(idctl: Operated, email = `${fresh('ada')}@example.test`) {
  return createUser(idctl.operator(), { email, name: 'Ada Byron', password });
}

/** Creates an organization with an owner. */
export async function organization(idctl: Operated) {
  const org = await createOrganization(idctl.operator(), { name: fresh('acme') });
  const owner = await person(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: owner.email ?? '', role: 'owner' });
  return { ...org, owner };
}

/** Adds a domain to the organization, and marks it as verified by the operator. */
export async function verifiedDomain(idctl: Operated, org: string, domain = `${fresh('d')}.test`) {
  await addDomain(idctl.operator(), { org, domain });
  await assertDomain(idctl.operator(), { org, domain });
  return domain;
}

/** Signs in with the password, in a client that keeps its cookies. */
export async function signedIn(
  idctl: Idctl,
  email: string | null,
  more: { totpCode?: string } = {},
): Promise<Client & { accessToken: string; refreshToken: string }> {
  const client = idctl.client({ keepCookies: true });
  const answer = await client.post('/api/v1/auth/login', { email, password, ...more });
  if (answer.status !== 200) throw new Error(`sign-in answered ${answer.status}`);
  return {
    ...client,
    accessToken: answer.body.accessToken,
    refreshToken: answer.body.refreshToken,
  };
}
