import type { Organization } from '../../../database/models/organization.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { right, wrong } from '../../../finding.ts';
import { shellWord } from '../../../shell-word.ts';
import { type Check, check, shownTime } from './check.ts';

/**
 * Whether the receivers of an organization's webhooks accept deliveries. Null if there are none.
 */
export async function checkWebhooks({ id, slug }: Organization): Promise<Check | null> {
  const webhooks = await Webhook.findAll({ where: { organizationId: id }, order: ['id'] });
  if (webhooks.length === 0) return null;
  return check(`webhooks of ${slug}`, 'each accepts its messages', async () => {
    const failing = webhooks.find(({ failingSince }) => failingSince !== null);
    const off = webhooks.filter(({ enabled }) => !enabled).length;
    if (failing?.failingSince) {
      const since = `every try since ${shownTime(failing.failingSince)} has failed`;
      const state = failing.enabled ? '' : ', and is switched off';
      return wrong(
        `${failing.url}: ${since}${state}`,
        `See why: idctl webhook deliveries ${shellWord(failing.id)}`,
      );
    }
    return right(`${webhooks.length - off} in use${off === 0 ? '' : `, ${off} switched off`}`);
  });
}
