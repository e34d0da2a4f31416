import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { right, wrong } from '../../../finding.ts';
import { shellWord } from '../../../shell-word.ts';
import { governsNobody, saysSomething } from '../../tenancy/signin-settings/operations.ts';
import { type Check, check } from './check.ts';

/**
 * Whether the sign-in settings of an organization govern any account. Null if it has no settings.
 */
export async function checkSignIn(ctx: Context, organization: Organization): Promise<Check | null> {
  const { id, slug } = organization;
  if (!saysSomething(await SignInSettings.findByPk(id))) return null;
  return check(`sign-in of ${slug}`, 'its settings govern accounts', async () => {
    if (!(await governsNobody(ctx, organization))) return right('its settings apply');
    const { creation } = ctx.config.orgs;
    const alone =
      creation === 'anyone' ? 'orgs.creation is anyone' : 'it is not the only organization';
    return wrong(
      `its settings govern no account: it has no verified domain, and ${alone}`,
      `Verify the domain of its members: idctl domain add DOMAIN --org ${shellWord(slug)}`,
    );
  });
}
