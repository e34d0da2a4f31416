import type { Organization } from '../../database/models/organization.ts';
import { SignInSettings } from '../../database/models/sign-in-settings.ts';
import { shellWord } from '../../shell-word.ts';
import { governsNobody, saysSomething } from '../signin/reach.ts';
import { type Check, check, right, wrong } from './check.ts';

/** Whether what an organization says of ways to sign in holds for anybody; null where it says nothing. */
export async function checkSignIn(organization: Organization): Promise<Check | null> {
  const { id, slug } = organization;
  if (!saysSomething(await SignInSettings.findByPk(id))) return null;
  return check(`sign-in of ${slug}`, 'its settings hold for somebody', async () => {
    if (!(await governsNobody(organization))) return right('its settings hold');
    return wrong(
      'its settings hold for nobody: it has verified no domain, and is not the only organization',
      `Verify the domain of its people: idctl domain add DOMAIN --org ${shellWord(slug)}`,
    );
  });
}
