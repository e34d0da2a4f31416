import {
  addDomain,
  removeDomain,
  verifyDomain,
} from '../../../../services/tenancy/domains/operations.ts';
import { endingPages } from '../../ending.ts';
import { operationForm, type Page, type ShownPage, type Visit } from '../../page.ts';
import { goTo } from '../sheet.ts';
import { path, pathOf } from './path.ts';
import { shutOutBy } from './shut-out.ts';

/** The forms that add and verify a domain. `overview` shows the page above them. */
export function domainPages(base: string, overview: (visit: Visit) => Promise<ShownPage>): Page[] {
  return [
    operationForm(`${base}/domains`, addDomain, {
      reply: (visit) => goTo(visit, pathOf(visit), 'domain-added'),
      refused: overview,
    }),
    operationForm(`${base}/domains/:domain/verify`, verifyDomain, {
      reply: (visit) => goTo(visit, pathOf(visit), 'verified'),
      refused: overview,
    }),
  ];
}

/** The page that removes a domain. */
export const domainEndingPages = endingPages(`${path}/domains/:domain/remove`, removeDomain, {
  act: 'Remove domain',
  back: path,
  further: (ctx, input) => shutOutBy(ctx, { ...input, change: 'domain.remove' }),
  reply: (visit) => goTo(visit, pathOf(visit), 'domain-removed'),
});
