import { dayText } from '../../../text/dates.ts';
import { counted } from '../../../text/words.ts';
import { type Html, html } from '../html.ts';
import { markNotice } from '../marks.ts';
import type { ShownPage, Visit } from '../page.ts';
import { notice, postForm } from '../parts.ts';
import { ago, type Described, type Draft, isTold, type Me, section } from './section.ts';

/** The section that shows how many recovery codes are left; absent without a second factor. */
export function recoveryCodesSection(
  draft: Draft,
  { twoFactorEnabled }: Me,
  { recoveryCodes: { remaining, createdAt } }: Described,
): Html | null {
  if (!twoFactorEnabled && !isTold(draft)) return null;
  const left =
    createdAt === null
      ? 'You have no recovery codes.'
      : `${counted(remaining, 'code is', 'codes are')} left, created ${ago(draft.ctx.now, createdAt)}.`;
  const content = html`<p>${left} If you cannot use your other second factor, sign in with a recovery code.</p>
${remaining > 0 && html`<p class="quiet">If you create new codes, the old ones are refused.</p>`}`;
  const button = html`<button class="small" type="submit">Create new recovery codes</button>`;
  return section(
    draft,
    'recovery-codes',
    html`${content}${postForm(draft, '/account/recovery-codes#recovery-codes', button)}`,
  );
}

/** Shows new codes once, with a file to download. The notice `done` follows on the account page. */
export function shownCodes(
  visit: Visit,
  {
    codes,
    me,
    done,
    said,
  }: { codes: string[]; me: Me; done?: string | undefined; said?: string | undefined },
): ShownPage {
  const text = `${codes.join('\n')}\n`;
  return {
    title: 'Your recovery codes',
    once: true,
    main: html`<h1>Your recovery codes</h1>
${notice(said)}
<p>If you cannot use your authenticator app or your passkey, sign in with one of these codes. Each code is valid once. Store them now, for example in a password manager: they are not shown again.</p>
<pre class="secret">${text}</pre>
<p><a class="button plain" download="idctl-recovery-codes.txt" href="${fileOf(visit, me, text)}">Download the codes</a></p>
<form method="get" action="/">
${done !== undefined && html`<input type="hidden" name="done" value="${markNotice(visit, done)}">`}
<label class="check"><input type="checkbox" required> I have stored them</label>
<button type="submit">Continue</button>
</form>`,
  };
}

/** The file as a `data:` URL, so that no later request contains the codes. */
function fileOf({ ctx }: Visit, { email, name }: Me, codes: string): string {
  const { instance, baseUrl } = ctx.config;
  const lines = [
    `Recovery codes of ${email ?? name} for ${instance.name}, ${baseUrl}`,
    `Created on ${dayText(ctx.now)}. Each code is valid once.`,
    '',
    codes,
  ];
  return `data:text/plain;charset=utf-8,${encodeURIComponent(lines.join('\n'))}`;
}
