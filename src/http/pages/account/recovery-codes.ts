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

/** Says what to do after a recovery code was used, until a factor is added or codes are created. */
export function recoveringNotice({
  recovering,
  totp,
  passkeys,
  recoveryCodes: { remaining },
}: Described): Html | null {
  if (!recovering) return null;
  const left = counted(remaining, 'code is', 'codes are');
  const first =
    remaining === 0 && html`first <a href="#recovery-codes">create new codes</a>. Then `;
  const app = html`<p>If you lost the phone with your authenticator app, ${first}<a href="#two-factor">turn the app off</a> with a recovery code, and set it up on your new phone.</p>`;
  const passkey = html`<p>If you lost a device with a passkey, <a href="#passkeys">remove the passkey</a>, and add one on your new device.</p>`;
  return html`<div class="notice"><p><strong>You used a recovery code. ${left} left.</strong></p>
${totp && app}${passkeys !== null && passkeys.items.length > 0 && passkey}
<p>If you lost nothing, <a href="#recovery-codes">create new codes</a> to replace the used ones.</p></div>`;
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
