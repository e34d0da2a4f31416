import {
  addDomain,
  removeDomain,
  verifyDomain,
} from '../../../../services/tenancy/domains/operations.ts';
import { endingPages } from '../../ending.ts';
import { operationForm, type Page } from '../../page.ts';
import { goTo } from '../sheet.ts';
import { showSignIn } from './overview.ts';
import { path, pathOf } from './path.ts';
import { shutOutBy } from './shut-out.ts';

/** The forms with which an organization adds, verifies and removes a domain. */
export const domainPages: Page[] = [
  operationForm(`${path}/domains`, addDomain, {
    reply: (visit, _view, key) => goTo(visit, pathOf(key), 'domain-added'),
    refused: showSignIn,
  }),
  operationForm(`${path}/domains/:domain/verify`, verifyDomain, {
    reply: (visit, _view, key) => goTo(visit, pathOf(key), 'verified'),
    refused: showSignIn,
  }),
  ...endingPages(`${path}/domains/:domain/remove`, removeDomain, {
    act: 'Remove domain',
    back: path,
    further: (ctx, input) => shutOutBy(ctx, { ...input, change: 'domain.remove' }),
    reply: (visit, _view, key) => goTo(visit, pathOf(key), 'domain-removed'),
  }),
];
