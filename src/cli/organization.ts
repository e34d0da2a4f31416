import { refuseField } from '../errors.ts';
import type { Call } from './run.ts';

/** The maximum number of slugs that an error names. */
const maxNamed = 10;

/** Fills in a missing `--org`: `IDCTL_ORG`, else the only one. With `tell`, prints it as a note. */
export async function fillOrganization(call: Call, tell = false): Promise<void> {
  if (call.input['org'] !== undefined) return;
  const given = process.env['IDCTL_ORG'];
  const org = given ? given : await onlyOrganization(call);
  call.input['org'] = org;
  if (tell && process.stderr.isTTY) call.note(`Organization: ${org}`);
}

async function onlyOrganization(call: Call): Promise<string> {
  const { listOrganizations } = await import('../services/tenancy/organizations/operations.ts');
  const [only, ...more] = await call.every(listOrganizations, {});
  if (only === undefined && call.server !== null)
    throw refuseField('org', 'is missing: you are not a member of any organization');
  if (only === undefined)
    throw refuseField(
      'org',
      'is missing: there is no organization yet',
      'Create one: idctl org create NAME',
    );
  if (more.length === 0) return only.slug;
  const slugs = [only, ...more].map(({ slug }) => slug);
  const named = slugs.slice(0, maxNamed).join(', ');
  const rest = slugs.length > maxNamed ? `, and ${slugs.length - maxNamed} more` : '';
  throw refuseField(
    'org',
    `is required, because there are several organizations: ${named}${rest}`,
    'Name one with --org or IDCTL_ORG.',
  );
}
