import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { organization, person, signedIn } from './builders.ts';
import type { Idctl } from './idctl.ts';

/** An organization with a person in each role, and a stranger, each signed in with a browser. */
export async function team(idctl: Idctl) {
  const org = await organization(idctl);
  const hired = async (role: 'member' | 'admin') => {
    const { id, email } = await person(idctl);
    await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role });
    return { id, email: email ?? '' };
  };
  const people = {
    owner: { id: org.owner.id, email: org.owner.email ?? '' },
    admin: await hired('admin'),
    member: await hired('member'),
    stranger: await person(idctl),
  };
  const clients = {
    owner: await signedIn(idctl, people.owner.email),
    admin: await signedIn(idctl, people.admin.email),
    member: await signedIn(idctl, people.member.email),
    stranger: await signedIn(idctl, people.stranger.email),
  };
  return { org, people, clients };
}
