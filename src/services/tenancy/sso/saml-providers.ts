// What an admin does at each provider to connect it by SAML. Pages and `docs/providers/` share it.

/** The providers with steps of their own for SAML. */
export const guidedSamlProviders = ['entra', 'okta', 'google', 'adfs', 'keycloak'] as const;

/** A provider with steps of its own for SAML, or any other. */
export type SamlProviderName = (typeof guidedSamlProviders)[number] | 'other';

interface SamlProvider {
  title: string;
  /** The documentation of the provider that the steps follow. */
  source: string;
  /** Where the URL of its metadata is, or what to do if it has none. */
  metadata: string;
  /**
   * What to do at the provider. `{entityId}` stands for the entity ID of idctl, which is the URL of
   * its metadata too, and `{acsUrl}` for its ACS URL.
   */
  steps: string[];
  /** How the provider sends groups. */
  groups: string;
}

/** The providers for SAML, in the order in which people choose from them. */
export const samlProviders: Record<SamlProviderName, SamlProvider> = {
  entra: {
    title: 'Microsoft Entra ID',
    source:
      'https://learn.microsoft.com/entra/identity/enterprise-apps/add-application-portal-setup-sso',
    metadata: 'Entra ID calls it App Federation Metadata Url.',
    steps: [
      'In the Microsoft Entra admin center, open **Enterprise apps**, and choose **New application**, then **Create your own application**.',
      'Enter a name, keep the choice of an application that is not in the gallery, and choose **Create**.',
      'Open **Single sign-on**, choose **SAML**, and edit **Basic SAML Configuration**.',
      'As **Identifier (Entity ID)**, enter `{entityId}`. As **Reply URL**, enter `{acsUrl}`. Then choose **Save**.',
      'Edit **Attributes & Claims**, open **Unique User Identifier**, and choose the format **Persistent** and the attribute `user.objectid`. The person then stays the same after a change of name.',
      'From **SAML Certificates**, copy the **App Federation Metadata Url**.',
      'Open **Users and groups**, and add the people or groups who may sign in.',
    ],
    groups:
      'Choose **Add a group claim** in **Attributes & Claims**. Entra ID sends the object IDs of the groups, so the mappings name these IDs.',
  },
  okta: {
    title: 'Okta',
    source: 'https://help.okta.com/en-us/content/topics/apps/apps_app_integration_wizard_saml.htm',
    metadata: 'It is on the tab Sign On of the application.',
    steps: [
      'In the Admin Console, open **Applications**, **Applications**, and choose **Create App Integration**.',
      'Choose **SAML 2.0**, enter a name, and choose **Next**.',
      'As **Single sign-on URL**, enter `{acsUrl}`. As **Audience URI (SP Entity ID)**, enter `{entityId}`.',
      'Choose the name ID format **Persistent**. Below **Attribute Statements**, add `email` with the value `user.email`, `firstName` with `user.firstName`, and `lastName` with `user.lastName`. Then choose **Next** and **Finish**.',
      'On the tab **Assignments**, assign the people or groups who may sign in.',
      'From the tab **Sign On**, copy the **Metadata URL**.',
    ],
    groups:
      'Below **Group Attribute Statements**, add `groups` with the filter **Matches regex** and the value `.*`.',
  },
  google: {
    title: 'Google Workspace',
    source: 'https://support.google.com/a/answer/6087519',
    metadata:
      'Google has no such URL. Paste the text of the file below, and again before its certificate ends.',
    steps: [
      'In the Google Admin console, open **Apps**, **Web and mobile apps**, and choose **Add app**, then **Add custom SAML app**.',
      'Enter a name, and choose **Continue**.',
      'Choose **Download metadata**, then **Continue**. Open the file with a text editor to copy its text.',
      'As **ACS URL**, enter `{acsUrl}`. As **Entity ID**, enter `{entityId}`. Choose the name ID format **PERSISTENT**, and then **Continue**.',
      'With **Add mapping**, map **Primary email** to `email`, **First name** to `firstName`, and **Last name** to `lastName`. Then choose **Finish**.',
      'Open **User access**, and turn the application on for the people who may sign in.',
    ],
    groups:
      'Below **Group membership**, choose the groups to send, and enter `groups` as their app attribute.',
  },
  adfs: {
    title: 'AD FS',
    source:
      'https://learn.microsoft.com/windows-server/identity/ad-fs/operations/create-a-relying-party-trust',
    metadata:
      'It is such as https://adfs.acme.com/FederationMetadata/2007-06/FederationMetadata.xml. If this site cannot reach it, paste the text of the file below.',
    steps: [
      'In AD FS Management, open **Relying Party Trusts**, choose **Add Relying Party Trust**, and choose **Claims aware**.',
      'Choose **Import data about the relying party published online**, and enter `{entityId}`. If AD FS cannot reach it, enter the data manually: the SAML 2.0 WebSSO URL `{acsUrl}`, and the identifier `{entityId}`.',
      'Choose who may sign in, and close the wizard.',
      'Choose **Edit Claim Issuance Policy**, and add a rule **Send LDAP Attributes as Claims** with the attribute store **Active Directory**.',
      'In this rule, send **E-Mail-Addresses** as **E-Mail Address**, **Display-Name** as **Name**, and an attribute that never changes, such as `objectGUID`, as **Name ID**.',
    ],
    groups:
      'In the same rule, send **Token-Groups - Unqualified Names** as **Group**. AD FS then sends the names of the groups.',
  },
  keycloak: {
    title: 'Keycloak',
    source: 'https://www.keycloak.org/docs/latest/server_admin/',
    metadata:
      'It is the address of the realm, followed by /protocol/saml/descriptor, such as https://id.acme.com/realms/acme/protocol/saml/descriptor.',
    steps: [
      'Open `{entityId}`, and save it as a file.',
      'In the Keycloak admin console, choose the realm, open **Clients**, and choose **Import client**.',
      'Choose the file, and choose **Save**. The client has the entity ID `{entityId}`, and the redirect URI `{acsUrl}`.',
      'On the tab **Settings**, choose the name ID format **persistent**, turn **Force name ID format** on, and choose **Save**.',
      'On the tab **Client scopes**, open the dedicated scope, choose **Add predefined mapper**, and add **X500 email**.',
    ],
    groups:
      'In the dedicated scope, add a mapper **Group list** with the attribute name `groups`, and turn **Full group path** off.',
  },
  other: {
    title: 'Another provider',
    source: 'https://docs.oasis-open.org/security/saml/v2.0/saml-profiles-2.0-os.pdf',
    metadata: 'An https URL. If there is none, paste the text of the metadata below.',
    steps: [
      'At your provider, create an application for SAML 2.0. If it reads metadata, give it `{entityId}`, and skip the next step.',
      'As the entity ID, enter `{entityId}`. As the ACS URL, with the binding HTTP-POST, enter `{acsUrl}`.',
      'Let it sign with RSA and SHA-256, and send the e-mail address as an attribute, such as `email`.',
      'As the NameID, let it send a value that never changes, with the format `persistent`.',
      'Copy the URL of its metadata, or download the metadata.',
    ],
    groups:
      'If the provider sends groups, let it send them as the attribute `groups`, with one value for each group.',
  },
};
