import { OAuthApp } from '../../../database/models/app.ts';
import { right } from '../../../finding.ts';
import { type Check, check } from './check.ts';

const mostNamed = 3;

/**
 * Lists the apps without an organization, which see every token as inactive (security O9). Null if
 * each app has one.
 */
export async function checkApps(): Promise<Check | null> {
  const { rows, count } = await OAuthApp.findAndCountAll({
    where: { organizationId: null },
    include: { association: 'account', required: true },
    order: ['id'],
    limit: mostNamed,
  });
  if (count === 0) return null;
  return check('apps', 'each has an organization, if it asks about tokens', async () => {
    const named = rows.map(
      ({ id, name, account }) => `${name} of ${account.email ?? account.name} (${id})`,
    );
    const more = count > rows.length ? ` and ${count - rows.length} more` : '';
    // No fault: an app that only gets tokens for itself needs none.
    return right(
      `no organization: ${named.join(', ')}${more}`,
      'Introspection calls every token inactive for them. If one needs it: idctl app set ID --org ORG',
    );
  });
}
