import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import type { Rules } from './facts.ts';

// The refusals of a preview for which no groups are known.

const giveGroups = {
  technical: 'Give the groups to use in the preview: --group NAME for each (or `groups`).',
};

/** The refusal if neither a connection nor SCIM has sent groups for the person. */
export function neverSaid(
  { slug }: Organization,
  user: string,
  { rules, everSignedIn }: { rules: Rules; everSignedIn: boolean },
): Refusal {
  if (everSignedIn)
    return groupsUnknown(`The last sign-in of ${user} did not bring a usable list of groups.`);
  if (rules.sources.length > 0)
    return groupsUnknown(`${user} has never signed in through a connection of ${slug}.`);
  return groupsUnknown(`${slug} has no connection, and SCIM has not pushed groups for ${user}.`);
}

/** The refusal of a preview without known groups. */
export function groupsUnknown(message: string): Refusal {
  return new Refusal('groups_unknown', message, { hint: giveGroups });
}

/** The refusal for a person that SCIM shows as deactivated. SCIM still keeps these groups. */
export function deactivated({ slug }: Organization, user: string, kept: string[]): Refusal {
  const groups = kept.length === 0 ? 'no groups' : `these groups: ${kept.join(', ')}`;
  return new Refusal(
    'groups_unknown',
    `SCIM shows ${user} as deactivated in ${slug}, and keeps ${groups}.`,
    { hint: ['Activate the person at the identity provider.', giveGroups] },
  );
}
