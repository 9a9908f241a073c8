//! Bearer tokens that are configured with their users.

use std::{collections::HashMap, fmt, sync::Arc};

use ring::digest::{SHA256, digest};

use crate::authorization::user::User;

/// The users of tokens. Only digests of the tokens are in memory.
#[derive(Clone, Default)]
pub(super) struct StaticTokens(HashMap<Vec<u8>, Arc<User>>);

/// The error for a file of tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the tokens {problem}; expected `token,user,uid` and optionally `,\"group1,group2\"`")]
pub struct TokenFileError {
    line: usize,
    problem: String,
}

impl StaticTokens {
    pub(super) fn insert(&mut self, token: &str, user: User) {
        self.0.insert(digest_of(token), Arc::new(user));
    }

    /// Adds the tokens of a file in the format of kube-apiserver: one per line, as comma-separated values.
    ///
    /// # Errors
    /// A line has fewer than three fields, or no token or user.
    pub(super) fn insert_csv(&mut self, text: &str) -> Result<(), TokenFileError> {
        for (line, content) in (1..).zip(text.lines()).filter(|(_, content)| !content.trim().is_empty()) {
            let error = |problem: String| TokenFileError { line, problem };
            let fields = fields(content).ok_or_else(|| error("has an unclosed quote".to_owned()))?;
            let [token, name, uid, groups @ ..] = fields.as_slice() else {
                return Err(error(format!("has {} fields", fields.len())));
            };
            if token.is_empty() || name.is_empty() {
                return Err(error("has an empty token or user".to_owned()));
            }
            let groups = groups.first().into_iter().flat_map(|groups| groups.split(','));
            let groups = groups.map(|group| group.trim().to_owned()).filter(|group| !group.is_empty()).collect();
            self.insert(token, User { uid: uid.clone(), ..User::authenticated(name.clone(), groups) });
        }
        Ok(())
    }

    pub(super) fn user(&self, token: &str) -> Option<Arc<User>> {
        self.0.get(&digest_of(token)).cloned()
    }
}

fn digest_of(token: &str) -> Vec<u8> {
    digest(&SHA256, token.as_bytes()).as_ref().to_vec()
}

/// Splits comma-separated values, which may be quoted. Returns `None` for a quote without an end.
fn fields(line: &str) -> Option<Vec<String>> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    for part in line.split_inclusive(['"', ',']) {
        let (text, separator) = match part.strip_suffix(['"', ',']) {
            Some(text) => (text, part.chars().next_back()),
            None => (part, None),
        };
        let field = fields.last_mut()?;
        field.push_str(text);
        match separator {
            Some('"') => is_quoted = !is_quoted,
            Some(',') if is_quoted => field.push(','),
            Some(',') => fields.push(String::new()),
            _ => {}
        }
    }
    let trimmed = fields.iter().map(|field| field.trim().to_owned()).collect();
    (!is_quoted).then_some(trimmed)
}

/// Without the digests.
impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticTokens").field("tokens", &self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<StaticTokens, TokenFileError> {
        let mut tokens = StaticTokens::default();
        tokens.insert_csv(text).map(|()| tokens)
    }

    #[test]
    fn each_line_is_a_token_with_its_user() {
        let tokens = tokens("abc,admin,7,\"system:masters, ops\"\n\nd e,jane,\nf,joe,1,dev\n").unwrap();
        let user =
            |token: &str| tokens.user(token).map(|user| (user.name.clone(), user.uid.clone(), user.groups.join(",")));
        let expected = |name: &str, uid: &str, groups: &str| Some((name.to_owned(), uid.to_owned(), groups.to_owned()));
        assert_eq!(user("abc"), expected("admin", "7", "system:masters,ops,system:authenticated"));
        assert_eq!(user("d e"), expected("jane", "", "system:authenticated"));
        assert_eq!(user("f"), expected("joe", "1", "dev,system:authenticated"));
        assert_eq!(user("ABC"), None);
    }

    #[test]
    fn an_error_names_the_line_without_its_token() {
        for (text, problem) in [
            ("secret,jane", "line 1 of the tokens has 2 fields"),
            ("a,b,c\nsecret,,1", "line 2 of the tokens has an empty token or user"),
            ("secret,\"jane,1", "line 1 of the tokens has an unclosed quote"),
        ] {
            let error = tokens(text).unwrap_err().to_string();
            assert!(error.starts_with(problem) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn tokens_are_not_formatted() {
        assert_eq!(format!("{:?}", tokens("abc,admin,7").unwrap()), "StaticTokens { tokens: 1 }");
    }
}
