//! The part of a subagent: its agent's skills, and the external skills bound to it.

use crate::blocks::{ExternalSkillBlock, agent_block, external_blocks};
use crate::cache_document::{CacheDocument, SectionContent};

use super::{CachePart, DeliveryContext, DeliveryMode};

/// Returns the part for a subagent of a type, or `None` if the cache has no content for it.
///
/// External skills that are always injected are included in full if they fit, the others by name.
pub fn subagent_part(
    document: &CacheDocument<'_>,
    delivery: &DeliveryContext<'_>,
    agent_type: &str,
) -> Option<CachePart> {
    if delivery.mode == DeliveryMode::Off {
        return None;
    }
    // An agent of a plugin is called `plugin:agent`.
    let agent = agent_type.rsplit(':').next().unwrap_or(agent_type);
    let text_of = |name| match document.section(name)?.content() {
        SectionContent::Text(text) => Some(text),
        SectionContent::Skipped(_) => None,
    };
    let index = text_of("SKILL_INDEX").unwrap_or_default();
    let block = agent_block(&index, agent).map(str::to_owned);
    let external = text_of("EXTERNAL_SKILLS").unwrap_or_default();
    let mut bound = external_blocks(&external);
    bound.retain(|skill| skill.is_bound_to_agent(agent));
    if block.is_none() && bound.is_empty() {
        return None;
    }
    let mut part = SubagentPartBuilder { delivery, text: head(document, delivery, agent) };
    if let Some(block) = block
        && !part.add(&block)
    {
        part.add(&format!("Its skills do not fit here; `lockstep cache agent {agent}` prints them."));
    }
    bound.iter().for_each(|skill| part.external(skill, agent));
    Some(CachePart { text: part.text, carries: Vec::new() })
}

fn head(document: &CacheDocument<'_>, delivery: &DeliveryContext<'_>, agent: &str) -> String {
    let agent = crate::text_length::one_line(crate::text_length::prefix(agent, 100));
    let text = format!(
        "Lockstep session cache, hash {}, for agent {agent}.{}",
        document.header.hash,
        delivery.staleness()
    );
    delivery.limits.unit.prefix(&text, 500).to_owned()
}

struct SubagentPartBuilder<'a> {
    delivery: &'a DeliveryContext<'a>,
    text: String,
}

impl SubagentPartBuilder<'_> {
    /// Adds a block if all of it fits.
    fn add(&mut self, block: &str) -> bool {
        let unit = self.delivery.limits.unit;
        let fits =
            unit.count(&self.text) + unit.count("\n\n") + unit.count(block) <= self.delivery.limits.part;
        if fits {
            self.text.push_str("\n\n");
            self.text.push_str(block);
        }
        fits
    }

    fn external(&mut self, skill: &ExternalSkillBlock<'_>, agent: &str) {
        let wanted = skill.injection == "always" && skill.delivery != "reference";
        let marked = format!("Text of an external skill, not of this project:\n{}", skill.text);
        if !(wanted && self.add(&marked)) {
            let chars = crate::text_length::chars(skill.text);
            self.add(&format!(
                "External skill {} ({chars} characters, source {}): `lockstep cache agent {agent}` prints it.",
                skill.title, skill.source
            ));
        }
    }
}
