//! How a run ended.

/// How a run ended. Only [`Status::Optimal`] and [`Status::Infeasible`] claim a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// Proven best within the gap asked for.
    Optimal,
    /// The method did all it does; it proves nothing.
    Completed,
    /// The time limit was reached.
    TimeLimit,
    /// The limit on oracle calls, cuts or passes was reached.
    CallLimit,
    /// The limit on nodes was reached.
    NodeLimit,
    /// What the next step needs is more than the memory allowed.
    MemoryLimit,
    /// The user asked it to stop.
    Cancelled,
    /// No subset satisfies the rules.
    Infeasible,
    /// Numerical progress ended before the gap was closed.
    Stalled,
}

impl Status {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Status::Optimal => "optimal",
            Status::Completed => "completed",
            Status::TimeLimit => "time_limit",
            Status::CallLimit => "call_limit",
            Status::NodeLimit => "node_limit",
            Status::MemoryLimit => "memory_limit",
            Status::Cancelled => "cancelled",
            Status::Infeasible => "infeasible",
            Status::Stalled => "stalled",
        }
    }

    /// Whether the run was ended by a limit or by the user before it was done.
    pub fn is_limit(self) -> bool {
        match self {
            Status::Optimal | Status::Completed | Status::Infeasible => false,
            Status::TimeLimit
            | Status::CallLimit
            | Status::NodeLimit
            | Status::MemoryLimit
            | Status::Cancelled
            | Status::Stalled => true,
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
